import { expect } from 'chai';
import { everyProduct } from '../support/workers.js';
import type { CrashService } from './crash-service.js';

/** The writes that one store acknowledged. It must hold them however the service ends. */
export class Acknowledged {
  readonly products = new Set<number>();
  /** The number of sample products that the command line made. */
  seeded = 0;
  /** Valid API keys that were made since the last check. */
  readonly good = new Set<string>();
  readonly revoked = new Set<string>();

  /** Creates one product through each process. */
  async createProducts(service: CrashService): Promise<void> {
    for (const { status, json } of await service.spread((client) =>
      client.post('/products', { name: 'Lamp' }),
    )) {
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

  async expectAllIn(service: CrashService): Promise<void> {
    const found = await service.with(everyProduct);
    expect(
      [...this.products].filter((id) => !found.has(id)),
      'acknowledged and lost',
    ).to.deep.equal([]);
    expect(found.size, 'products in all').to.equal(this.products.size + this.seeded);
    expect(await statuses(service, this.good), 'good keys').to.deep.equal([...this.good].map(() => 200));
    expect(await statuses(service, this.revoked), 'revoked keys').to.deep.equal(
      [...this.revoked].map(() => 401),
    );
    this.good.clear();
    this.revoked.clear();
  }
}

function statuses(service: CrashService, tokens: Iterable<string>): Promise<number[]> {
  return service.with((client) =>
    Promise.all([...tokens].map(async (token) => (await client.get('/products?limit=1', { token })).status)),
  );
}
