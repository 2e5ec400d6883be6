import { expect } from 'chai';
import { LEASE_MS } from '#src/application/ports/derived-data.js';
import { BY_ID, type Filter } from '#src/application/ports/list-query.js';
import { administerKeys, resetFeeds, seedStore } from '#src/composition/admin-tasks.js';
import type { StoreName } from '#src/composition/stores/index.js';
import { loadSettings } from '#src/config/settings.js';
import type { Id } from '#src/domain/record.js';
import { type NewStore, openNew, openStore, type TestStoreProvider } from '../stores/provider.js';
import { ChildProcessService } from '../support/child-process-service.js';
import { deriveAll } from '../support/derive-all.js';
import { type EarlierRelease, earlierRelease } from '../support/earlier-release.js';
import { HttpClient, ProxiedClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { searchFor } from '../support/reference-search.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { logged } from '../support/workers.js';
import { idsOf, next, product, query, user } from './repository/records.js';

/** Two batches of every store. */
const FEW = 600;
/** Records of which a killed process has made a part, where 3,000 are made too soon. */
const COUNTS: Partial<Record<StoreName, number>> = { sqlite: 40_000, postgresql: 8_000 };

/** Requests get 503, and readiness says what the process waits for, while it is alive. */
async function expectUnready(service: ChildProcessService): Promise<void> {
  const management = new HttpClient(await service.managementPort(), undefined, '');
  const [, port] = await service.logs(/"port":(\d+)[^\n]*"msg":"listening"/);
  const client = new ProxiedClient(Number(port), undefined, FIRST_KEY);
  try {
    expect((await management.get('/health/live', { token: null })).status).to.equal(200);
    const ready = await management.get('/health/ready', { token: null });
    expect(`${ready.status},${ready.json.message}`).to.match(/^503,.*another process makes derived data \(\d+ records/);
    const data = await client.get('/v1/products/1');
    expect([data.status, data.json.code]).to.deep.equal([503, 'unavailable']);
    expect(data.headers['retry-after']).to.match(/^\d+$/);
  } finally {
    management.close();
    client.close();
  }
}

/** What every store that outlives its processes does with derived data that an earlier release made. */
export function derivedDataContract(provider: TestStoreProvider): void {
  describe(`derived data of an earlier release on ${provider.name}`, () => {
    let store: NewStore;
    let earlier: EarlierRelease;
    const records = Array.from({ length: FEW }, (_, at) =>
      product(at + 1, {
        name: `lamp n${at % 7}`,
        brand: 'acme',
        ...(at % 2 && { gtin: '036000291452' }),
        ...(at % 3 && { attributes: { size: at % 3 }, tags: ['shop'] }),
      }),
    );
    const all = idsOf(records);
    const some = (test: (at: number) => unknown) => all.filter((id) => test(id - 1));
    const attribute = { field: 'attributes', operator: 'attribute' } as const;
    const FOUND: readonly (readonly [Filter, Id[]])[] = [
      [searchFor('lam n6'), some((at) => at % 7 === 6)],
      [searchFor('old'), []],
      [{ field: 'brand', operator: 'eq', value: 'acme' }, all],
      [{ field: 'gtin', operator: 'eq', value: '0036000291452' }, some((at) => at % 2)],
      [{ field: 'tags', operator: 'eq', value: 'shop' }, some((at) => at % 3)],
      [{ ...attribute, key: 'size', comparison: 'gte', number: 2 }, some((at) => at % 3 === 2)],
      [{ ...attribute, key: 'stale', exists: true }, []],
    ];
    const expectAll = async () => {
      for (const [filter, ids] of FOUND) {
        const found = await store.products.list(query({ limit: 1_000, filters: [filter] }));
        expect(idsOf(found.records), JSON.stringify(filter)).to.deep.equal(ids);
        expect(await store.products.count([filter]), JSON.stringify(filter)).to.equal(ids.length);
      }
      expect(await store.users.count([searchFor('user')])).to.equal(1);
    };

    beforeEach(async () => {
      store = await openNew(provider);
      earlier = await earlierRelease(store.settings);
      await store.products.insertAll(records);
      await store.users.insertAll([user(1, 'ann@example.com')]);
      await earlier.rewrite();
    });
    afterEach(async () => {
      await earlier.close();
      await store.close();
    });

    it('is made again for every record, once, by several processes at the same time', async () => {
      const other = await openStore(store.settings);
      const counts = await Promise.all([deriveAll(store), deriveAll(other)]);
      expect(counts[0] + counts[1]).to.be.at.least(FEW + 1);
      await other.close();
      await expectAll();
      expect(await deriveAll(store)).to.equal(0);
    });

    it('is that of the last version of a record that changes meanwhile', async () => {
      const edits = records.slice(0, 40).map((record) => ({ record: next(record, { brand: 'new' }), expected: 1 }));
      const replacing = (async () => {
        for (const edit of edits) expect(await store.products.replaceAll([edit])).to.deep.equal(['replaced']);
      })();
      await Promise.all([replacing, deriveAll(store)]);
      await deriveAll(store);
      const brand: Filter = { field: 'brand', operator: 'eq', value: 'new' };
      expect(await store.products.count([brand])).to.equal(40);
      expect(await store.products.count([searchFor('new lamp')])).to.equal(40);
      expect(await store.products.count([searchFor('acme')])).to.equal(FEW - 40);
    });

    it('is made by no command but serve', async () => {
      const settings = loadSettings(store.settings);
      await store.products.reserveIds(FEW);
      await administerKeys(settings, (keys) => keys.keys.pages({ limit: 1, filters: [], order: BY_ID }).next());
      await resetFeeds(settings);
      await seedStore(settings, (seeding) => seeding(1, 1).next());
      for (const table of store.derived?.tables.filter(({ name }) => name === 'products') ?? [])
        expect(await table.isStale()).to.equal(true);
    });

    it('has a lease, which one process holds at a time, and whose progress the others see', async () => {
      const { derived } = store;
      if (!derived) throw new Error('The store has no derived data.');
      expect(await derived.lease('a', 1)).to.equal(undefined);
      expect(await derived.lease('b', 0)).to.equal(1);
      expect(await derived.lease('a', 7)).to.equal(undefined);
      await derived.release('b');
      expect(await derived.lease('b', 0)).to.equal(7);
      await derived.release('a');
      expect(await derived.lease('b', 0)).to.equal(undefined);
      await until('the lease ends', async () => (await derived.lease('c', 0)) === undefined);
    }).timeout(LEASE_MS + 60_000);
  });

  describe(`processes on ${provider.name} that find derived data of an earlier release`, () => {
    const root = temporaryFolder();
    const running: ChildProcessService[] = [];
    let store: NewStore;
    let earlier: EarlierRelease;
    beforeEach(async () => {
      store = await openNew(provider);
      earlier = await earlierRelease(store.settings);
    });
    afterEach(async () => {
      for (const service of running.splice(0)) await service.stop('SIGKILL');
      await earlier.close();
      await store.close();
    });

    it('start at once: one makes it, another goes on after kill -9, all become ready, and what the earlier release writes is made again', async () => {
      const count = COUNTS[provider.name] ?? 3_000;
      for (let at = 0; at < count; at += 1_000)
        await store.products.insertAll(
          Array.from({ length: 1_000 }, (_, i) => product(at + i + 1, { name: `lamp n${at + i}` })),
        );
      await store.products.reserveIds(2 * count);
      await earlier.rewrite();
      const start = (at: number) => {
        const settings = { ...store.settings, BOOTSTRAP_API_KEY: FIRST_KEY, DATA_DIR: `data${at}`, TLS: 'proxy' };
        const service = new ChildProcessService(root, {
          ...settings,
          TRUSTED_PROXIES: '127.0.0.1',
          PUBLIC_URL: 'https://a.example',
        });
        running.push(service);
        return service;
      };
      // While this process has the lease, nobody makes it.
      const lease = () => store.derived?.lease('test', 7);
      await lease();
      const extending = setInterval(lease, LEASE_MS / 10);
      const services = [1, 2, 3].map(start);
      const waits = (service: ChildProcessService) => service.log.includes('another process makes derived data');
      try {
        await until('all wait', () => services.every(waits));
        await expectUnready(services[0] as ChildProcessService);
      } finally {
        clearInterval(extending);
      }
      await store.derived?.release('test');
      const makes = (service: ChildProcessService) => logged(service, 'making derived data').length > 0;
      await until('one makes it', () => services.some(makes));
      const builder = services.find(makes);
      builder?.kill('SIGKILL');
      const others = services.filter((service) => service !== builder);
      await until('another makes it', () => others.some(makes));
      for (const service of others) await service.logs(/"msg":"started"/);
      const found = (text: string) => store.products.count([searchFor(text)]);
      expect(await found('lamp')).to.equal(count);
      expect(await found('old')).to.equal(0);
      for (let id = count + 1; id <= count + 3; id++)
        if (!(await earlier.insert(id, `torch ${id}`))) {
          expect(provider.name).to.equal('sqlite');
          break;
        } else await until('it is found', async () => (await found(`torch ${id}`)) === 1);
    }).timeout(180_000);
  });
}
