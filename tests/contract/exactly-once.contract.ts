import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Id } from '#src/domain/record.js';
import { type OpenStore, openStore, type TestStoreProvider, type WrittenSoFar } from '../stores/provider.js';
import { ChildProcessService, type ChildProcessServices } from '../support/child-process-service.js';
import type { HttpClient, HttpResponse } from '../support/http-client.js';
import { isReplay, keyed, MADE, outcome, REPLAYED } from '../support/idempotent-posts.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { recordsOf } from '../support/links.js';
import { AT_NIGHT, sized } from '../support/run-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const CRASHING_SERVICE = resolve('build/tests/contract/crashing-service.js');
const KEYS = 20;
const CLIENTS = 8;
const KILLS = sized({ gate: 1, night: 6 });

/** The steps at which tests/contract/crashing-service.ts can crash on every store. */
const STEPS: Readonly<Record<string, WrittenSoFar>> = {
  'after the reservation': { reserved: true, inserted: false },
  'after the insertion': { reserved: true, inserted: true },
};

/** Those at which no store has a part in it. In the gate, the store without a server plays them. */
const OTHER_STEPS: Readonly<Record<string, WrittenSoFar>> = {
  'before the reservation': { reserved: false, inserted: false },
  'before the response': { reserved: true, inserted: true },
};

/**
 * A creation under an idempotency key happens once, in real processes that crash and run concurrently.
 * @param services of a store that others use as well
 */
export function exactlyOnceContract(provider: TestStoreProvider, services: ChildProcessServices): void {
  const { name, create, startServer, ownSteps } = provider;
  describe(`creation under an idempotency key by processes on ${name}`, () => {
    const root = temporaryFolder();
    let store: OpenStore;
    let running: ChildProcessService[];
    before(async () => (store = await openStore(services.settings())));
    beforeEach(() => (running = []));
    afterEach(async () => {
      for (const service of running) await service.stop('SIGKILL');
    });
    after(() => store.close());

    const start = (settings: Readonly<Record<string, string>>, program?: string[]) => {
      const environment = { BOOTSTRAP_API_KEY: FIRST_KEY, LOG_LEVEL: 'warn', ...settings };
      const service = new ChildProcessService(root, environment, program);
      running.push(service);
      return service;
    };
    const post = (client: HttpClient, key: string, fields: object = { name: key, sku: key }) =>
      client.post('/products', fields, keyed(key));
    /** The ids that are reserved for products. */
    const reservedIds = async (): Promise<Id[]> => {
      const archive = store.archives.reservations.find((one) => one.name === 'products');
      const reservations = await archive?.read('', 1_000);
      return reservations?.map(({ id }) => id) ?? [];
    };
    const listed = async (client: HttpClient, names: Iterable<string>) => {
      const wanted = new Set(names);
      const found: { id: number; name: string }[] = [];
      for await (const record of recordsOf(client, '/products?limit=1000'))
        if (wanted.has(record.name)) found.push(record);
      return found;
    };

    const steps = { ...STEPS, ...((AT_NIGHT || !startServer) && OTHER_STEPS), ...ownSteps };
    for (const [step, { reserved, inserted }] of Object.entries(steps))
      it(`is finished by another process if the first one crashes ${step}`, async () => {
        const earlier = new Set(await reservedIds());
        const newIds = async () => (await reservedIds()).filter((id) => !earlier.has(id));
        const crashing = start({ ...services.settings(), CRASH_AT: step }, [CRASHING_SERVICE]);
        const firstClient = await crashing.started(FIRST_KEY);
        const key = randomUUID();
        expect(await post(firstClient, key).catch(() => 'no response')).to.equal('no response');
        expect((await crashing.exit).signal).to.equal('SIGKILL');
        firstClient.close();

        const ids = await newIds();
        expect(ids).to.have.length(reserved ? 1 : 0);
        const [client, other] = services.clients() as [HttpClient, HttpClient];
        expect(await listed(client, [key])).to.have.length(inserted ? 1 : 0);
        const retry = await post(client, key);
        const third = await post(other, key);
        expect([outcome(retry), outcome(third)]).to.deep.equal([inserted ? REPLAYED : MADE, REPLAYED]);
        expect(third.text).to.equal(retry.text);
        expect(await listed(client, [key])).to.deep.equal([retry.json]);
        expect(await newIds()).to.deep.equal([retry.json.id]);
        if (reserved) expect(ids).to.deep.equal([retry.json.id]);
      });

    it('happens once for duplicate requests to all processes', async () => {
      const clients = services.clients();
      const keys = Array.from({ length: KEYS }, () => randomUUID());
      /** Keys with a 503 from a busy store. The lost response may have been that of the creation. */
      const uncertain = new Set<string>();
      const postUntilDone = async (client: HttpClient, key: string): Promise<HttpResponse> => {
        for (;;) {
          const response = await post(client, key);
          if (response.status !== 503) return response;
          uncertain.add(key);
          await sleep(10);
        }
      };
      const responses = await Promise.all(
        keys.map((key) =>
          Promise.all([...clients, ...clients, ...clients].map((client) => postUntilDone(client, key))),
        ),
      );
      for (const [at, duplicates] of responses.entries()) {
        expect(duplicates.map(({ status }) => status)).to.deep.equal(Array(3 * clients.length).fill(201));
        expect(new Set(duplicates.map(({ text }) => text))).to.have.length(1);
        const originals = duplicates.filter((response) => !isReplay(response));
        expect(originals.length).to.be.within(uncertain.has(keys[at] ?? '') ? 0 : 1, 1);
      }
      const found = await listed(clients[0] as HttpClient, keys);
      expect(found.map(({ name }) => name)).to.have.members(keys);
      expect(found).to.have.deep.members(responses.map(([response]) => response?.json));
    });

    it('happens once per key for clients that retry while the service is killed and restarted', async () => {
      // A store of its own, which no other process has open when all are killed.
      const own = await create(mkdtempSync(`${root}/store-`));
      let service = start(own.settings);
      const started = async () => {
        const one = await service.started(FIRST_KEY);
        // Other suites compare responses with the OpenAPI document; here this only costs time.
        one.documented = undefined;
        return one;
      };
      let client = await started();
      let isOver = false;
      const responses = new Map<string, HttpResponse[]>();
      const postUntilDone = async (key: string): Promise<HttpResponse> => {
        for (;;) {
          const response = await post(client, key).catch(() => undefined);
          if (response?.status === 201) return response;
          if (response && response.status !== 503) throw new Error(response.text);
          await sleep(10);
        }
      };
      const writers = Array.from({ length: CLIENTS }, async (_, writer) => {
        for (let i = 0; !isOver; i++) {
          const key = `${writer}.${i}`;
          responses.set(key, [await postUntilDone(key)]);
          // Some clients lost the response, and send the request again later.
          if (i % 3 === 0) responses.get(key)?.push(await postUntilDone(key));
        }
      });
      const done = Promise.all(writers);
      done.catch(() => {});
      for (let kill = 0; kill < KILLS; kill++) {
        const goal = responses.size + 15 + 5 * kill;
        while (responses.size < goal) await Promise.race([sleep(2), done]);
        await service.stop('SIGKILL');
        client.close();
        service = start(own.settings);
        client = await started();
      }
      isOver = true;
      await done;

      const found: { id: number; name: string }[] = [];
      for await (const record of recordsOf(client, '/products?limit=1000')) found.push(record);
      expect(found.map(({ name }) => name)).to.have.members([...responses.keys()]);
      const idOf = new Map(found.map(({ id, name }) => [name, id]));
      for (const [key, all] of responses) {
        for (const { json } of all) expect(json.id).to.equal(idOf.get(key));
        expect(all.slice(1).every(isReplay), 'every later response is a replay').to.equal(true);
      }
      client.close();
      await service.stop('SIGKILL');
      await own.remove();
    });
  });
}
