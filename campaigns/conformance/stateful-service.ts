import { SCOPES } from '#src/domain/access.js';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import type { HttpClient } from '../../tests/support/http-client.js';

/** A role in which schemathesis sends requests. */
export interface Caller {
  readonly name: string;
  /** The scopes of its API key. A caller without scopes has no key. */
  readonly scopes: readonly string[];
}

const READING = SCOPES.filter((scope) => scope.endsWith(':read'));

export const ADMINISTRATOR = 'administrator';

export const CALLERS: readonly Caller[] = [
  { name: ADMINISTRATOR, scopes: SCOPES },
  { name: 'reader', scopes: READING },
  { name: 'nobody', scopes: [] },
];

/** How a caller reaches the service. campaigns/conformance/run.py reads the environment. */
export interface ServiceAccess {
  readonly url: string;
  readonly key: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The program as its users run it, with limits that no caller reaches, some records, and a key for a caller. */
export class ConformanceService {
  private constructor(
    readonly access: ServiceAccess,
    private readonly client: HttpClient,
    private readonly service: ChildProcessService,
  ) {}

  static async start(folder: string, caller: Caller): Promise<ConformanceService> {
    const service = new ChildProcessService(folder, {
      LOG_LEVEL: 'warn',
      RATE_LIMIT_REQUESTS: '1000000000',
      WEBHOOK_NETWORKS: '127.0.0.0/8',
    });
    try {
      const client = await service.started();
      await fill(client);
      const key = caller.scopes.length > 0 ? await newKey(client, caller) : { id: 0, key: '' };
      return new ConformanceService(accessOf(service, client, caller, key), client, service);
    } catch (error) {
      await service.stop('SIGKILL');
      throw error;
    }
  }

  /** @throws Error if the service failed */
  async stop(): Promise<void> {
    this.client.close();
    const { code } = await this.service.stop();
    if (code !== 0) throw new Error(`the service ended with ${code}: ${this.service.log}`);
  }
}

function accessOf(
  service: ChildProcessService,
  client: HttpClient,
  { name, scopes }: Caller,
  { id, key }: { readonly id: number; readonly key: string },
): ServiceAccess {
  const url = `https://localhost:${client.port}`;
  const environment = {
    CONFORMANCE_URL: url,
    CONFORMANCE_CA_FILE: `${service.folder}/data/tls/ca.pem`,
    CONFORMANCE_CALLER: name,
    CONFORMANCE_KEY: key,
    CONFORMANCE_SCOPES: scopes.join(' '),
    CONFORMANCE_ADMIN_KEY: service.firstKey,
    CONFORMANCE_ADMIN_KEY_ID: '1',
    CONFORMANCE_OWN_KEY_IDS: `1 ${id}`,
  };
  return { url, key, environment };
}

async function newKey(client: HttpClient, { name, scopes }: Caller): Promise<{ id: number; key: string }> {
  const { status, text, json } = await client.post('/v1/api-keys', { name, scopes });
  if (status !== 201) throw new Error(`the key was not created: ${text}`);
  return json;
}

/** Creates records, so that lists have several pages. */
async function fill(client: HttpClient): Promise<void> {
  for (let n = 1; n <= 30; n++) {
    const lamp = { name: `Lamp ${n}`, attributes: { n }, tags: ['lighting/lamps', `t${n % 3}`], stock: n };
    const product = await client.post('/v1/products', lamp);
    const user = await client.post('/v1/users', { name: 'Ann', email: `ann.${n}@example.org` });
    const items = [{ productId: product.json.id, quantity: n }];
    const order = await client.post('/v1/orders', { userId: user.json.id, items });
    if (order.status !== 201) throw new Error(`the order was not created: ${order.text}`);
  }
}
