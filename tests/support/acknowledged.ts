import { expect } from 'chai';
import type { CrashService } from './crash-service.js';
import { everyProduct } from './workers.js';

/** The writes that a store acknowledged. It must contain them after any end of the service. */
export class Acknowledged {
  readonly products = new Set<number>();
  /** The number of sample products that the command line created. */
  seeded = 0;
  /** Valid API keys that were created since the last check. */
  readonly valid = new Set<string>();
  /** API keys that were revoked since the last check. */
  readonly revoked = new Set<string>();

  /** Creates one product through each process. */
  async createProducts(service: CrashService): Promise<void> {
    for (const { status, json } of await service.spread((client) => client.post('/products', { name: 'Lamp' }))) {
      expect(status).to.equal(201);
      this.products.add(json.id);
    }
  }

  async createKey(service: CrashService): Promise<{ id: number; key: string }> {
    const body = { name: 'x', scopes: ['products:read'] };
    const { status, json } = await service.with((client) => client.post('/api-keys', body));
    expect(status).to.equal(201);
    return json;
  }

  async revokeKey(service: CrashService): Promise<void> {
    const { id, key } = await this.createKey(service);
    const { status } = await service.with((client) => client.delete(`/api-keys/${id}`));
    expect(status).to.equal(204);
    this.revoked.add(key);
  }

  /** Expects that a service has all acknowledged products and keys, and no other products. */
  async expectAllIn(service: CrashService): Promise<void> {
    const found = await service.with(everyProduct);
    expect(
      [...this.products].filter((id) => !found.has(id)),
      'acknowledged but lost',
    ).to.deep.equal([]);
    expect(found.size, 'products in all').to.equal(this.products.size + this.seeded);
    expect(await statuses(service, this.valid), 'valid keys').to.deep.equal([...this.valid].map(() => 200));
    expect(await statuses(service, this.revoked), 'revoked keys').to.deep.equal([...this.revoked].map(() => 401));
    this.valid.clear();
    this.revoked.clear();
  }
}

function statuses(service: CrashService, tokens: Iterable<string>): Promise<number[]> {
  return service.with((client) =>
    Promise.all([...tokens].map(async (token) => (await client.get('/products?limit=1', { token })).status)),
  );
}
