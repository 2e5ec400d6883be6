import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { AppError } from '#src/domain/errors.js';
import type { Id } from '#src/domain/record.js';
import { type OpenStore, openStore, type TestServer, type TestStoreProvider } from '../stores/provider.js';
import { ChildProcessService } from '../support/child-process-service.js';
import { HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { recordsOf } from '../support/links.js';
import { searchFor } from '../support/reference-search.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { AT, next, product, query } from './repository/records.js';
import { reservation } from './repository/reservations.js';

/** Both begin while calls wait for the server. */
const FAULTS: Readonly<Record<Fault, readonly [begin: Step, end: Step]>> = {
  'a server that hangs': [(server) => server.suspend(), (server) => server.resume()],
  'a server that dies': [(server) => server.kill(), (server) => server.restart()],
};

type Fault = 'a server that hangs' | 'a server that dies';

type Step = (server: TestServer) => Promise<void>;

/** A call of each port. Record 1 exists, with version 1. */
const CALLS = {
  find: ({ products }) => products.find(1),
  findByUnique: ({ products }) => products.findByUnique('sku', 'a'),
  findUsedIds: ({ products }) => products.findUsedIds([1, 2]),
  list: ({ products }) => products.list(query({})),
  'a search': ({ products }) => products.list(query({ filters: [searchFor('lamp')] })),
  count: ({ products }) => products.count([]),
  insertAll: (store) => insertion(store, 2),
  replaceAll: async ({ products }) =>
    failureOf(await products.replaceAll([{ record: next(product(1), {}), expected: 7 }])),
  removeAll: ({ products }) => products.removeAll([{ id: 1, expected: 7, at: AT }]),
  confirmAll: ({ products }) => products.confirmAll([{ id: 1, version: 1 }]),
  reserveIds: ({ products }) => products.reserveIds(1),
  reserve: ({ reservations }) => reservations.products.reserve([reservation('a')]),
  'find of reservations': ({ reservations }) => reservations.products.find(['a']),
  'save of usage': ({ usage }) => usage.save([{ keyId: 1, hour: AT, counter: 'a', routes: [] }]),
  'find of usage': ({ usage }) => usage.find([1], 0),
} satisfies Readonly<Record<string, (store: OpenStore) => Promise<unknown>>>;

/** Writes of many records return their failures. @throws the first */
function failureOf(outcomes: readonly unknown[]): readonly unknown[] {
  for (const outcome of outcomes) if (outcome instanceof AppError) throw outcome;
  return outcomes;
}

async function insertion({ products }: OpenStore, id: Id): Promise<unknown> {
  return failureOf(await products.insertAll([product(id)]));
}

/** `done`, or the code of the error. @throws other errors */
function outcomeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof AppError) return error.code;
      throw error;
    },
  );
}

/** The outcome of a call that asks no server: `waits` if it is not there when the event loop turns. */
function immediateOutcomeOf(call: Promise<unknown>): Promise<string> {
  return Promise.race([outcomeOf(call), new Promise<string>((resolve) => setImmediate(resolve, 'waits'))]);
}

/**
 * A server that dies or hangs ends no process: calls and requests are refused meanwhile, and succeed afterwards. Mocha
 * fails a test during which its own process has an uncaught exception.
 */
export function outageContract(
  { name }: TestStoreProvider,
  startServer: NonNullable<TestStoreProvider['startServer']>,
  faults: readonly Fault[] = ['a server that hangs', 'a server that dies'],
): void {
  describe(`an outage of the server of ${name}`, () => {
    const folder = temporaryFolder();
    let server: TestServer;
    let store: OpenStore | undefined;
    let service: ChildProcessService | undefined;
    beforeEach(async () => {
      [store, service] = [undefined, undefined];
      server = await startServer(mkdtempSync(join(folder, 'server-')));
    });
    afterEach(async () => {
      await service?.stop('SIGKILL');
      await server.remove();
      await store?.close();
    });

    for (const fault of faults) {
      const [begin, end] = FAULTS[fault];
      it(`${fault} fails the calls that wait for it, and no later call asks it until it is back`, async () => {
        const opened = await openStore(server.settings);
        store = opened;
        await opened.products.insertAll([product(1, { sku: 'a' })]);
        let lastId = 100;
        const acknowledged: number[] = [];
        const writers = Array.from({ length: 8 }, async () => {
          for (;;) {
            const id = ++lastId;
            const outcome = await outcomeOf(insertion(opened, id));
            if (outcome !== 'done') return outcome;
            acknowledged.push(id);
          }
        });
        // More than may run at once, so that some have their turn during the outage.
        const searchers = Array.from({ length: 16 }, async () => {
          for (;;) {
            const outcome = await outcomeOf(CALLS['a search'](opened));
            if (outcome !== 'done') return outcome;
          }
        });
        await until('all write', () => acknowledged.length > 80);
        await begin(server);
        expect(new Set(await Promise.all([...writers, ...searchers]))).to.deep.equal(new Set(['unavailable']));
        await until(
          'the outage is known',
          async () => (await immediateOutcomeOf(opened.products.find(1))) === 'unavailable',
        );
        for (const [call, run] of Object.entries(CALLS))
          expect(await immediateOutcomeOf(run(opened)), call).to.equal('unavailable');
        await end(server);
        await until('it is back', async () => (await outcomeOf(opened.products.find(1))) === 'done');
        for (const [call, run] of Object.entries(CALLS)) expect(await outcomeOf(run(opened)), call).to.equal('done');
        expect(await opened.products.findExistingIds(acknowledged)).to.deep.equal(new Set(acknowledged));
      });
    }

    it('ends no process of the service, which refuses requests meanwhile and loses no record', async () => {
      const running = new ChildProcessService(mkdtempSync(join(folder, 'service-')), {
        ...server.settings,
        BOOTSTRAP_API_KEY: FIRST_KEY,
      });
      service = running;
      const client = await running.started(FIRST_KEY);
      const management = new HttpClient(await running.managementPort(), undefined, '');
      const isReady = async () => (await management.get('/health/ready', { token: null })).status === 200;
      const first = (await client.post('/v1/products', { name: 'first' })).json;
      let last = 0;
      const statuses = new Map<string, number>();
      const post = async (): Promise<number> => {
        const product = `Lamp ${++last}`;
        const { status } = await client.post('/v1/products', { name: product });
        statuses.set(product, status);
        return status;
      };
      const get = async (path: string): Promise<number> => (await client.get(path)).status;
      const requests = [
        post,
        () => get(`/v1/products/${first.id}`),
        () => get('/v1/products?sort=-name&limit=5'),
        () => get('/v1/products?q=lamp&limit=5'),
      ];
      const outages = async () => {
        for (const fault of faults) {
          const [begin, end] = FAULTS[fault];
          const before = last;
          const clients = Array.from({ length: 16 }, async (_, at) => {
            const send = requests[at % requests.length] ?? post;
            for (;;) {
              const status = await send();
              if (status > 201) return status;
            }
          });
          await until('all send', () => last > before + 80);
          await begin(server);
          expect(new Set(await Promise.all(clients)), fault).to.deep.equal(new Set([503]));
          await until(`the service is not ready: ${fault}`, async () => !(await isReady()));
          expect(await post(), fault).to.equal(503);
          await end(server);
          await until(`requests succeed again after ${fault}`, async () => (await post()) === 201);
          await until(`the service is ready again after ${fault}`, isReady);
        }
      };
      const death = running.exit.then(() => {
        throw new Error(`the service ended:\n${running.log.slice(-2_000)}`);
      });
      death.catch(() => {});
      await Promise.race([outages(), death]);
      const found: string[] = [];
      for await (const record of recordsOf(client, '/v1/products?limit=1000')) found.push(record.name);
      expect(new Set(found)).to.have.length(found.length);
      const created = [...statuses].filter(([, status]) => status === 201).map(([product]) => product);
      expect(found).to.include.members(created);
      client.close();
      management.close();
      expect(await running.stop()).to.deep.equal({ code: 0, signal: null });
    });
  });
}
