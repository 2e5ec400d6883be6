import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import Database from 'libsql';
import { HOUR_MS } from '#src/application/maintenance/retention.js';
import { type Application, compose } from '#src/composition/application.js';
import { loadSettings } from '#src/config/settings.js';
import type { Versioned } from '#src/domain/record.js';
import { Service } from '#src/process/service.js';
import { expectRefusal, ProxiedClient } from '../support/http-client.js';
import { jsonLines } from '../support/line-stream.js';
import { recordsOf } from '../support/links.js';
import { list } from '../support/list.js';
import { documentedResponses } from '../support/openapi/described.js';
import { expectedFinds } from '../support/reference-search.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { longText } from '../support/unicode-texts.js';
import { runInProcess } from '../unit/adapters/inbound/cli/run-command.js';
import {
  all,
  type Collection,
  EDITABLE,
  type History,
  type Item,
  type Keys,
  NAMES,
  PUBLIC_URL,
  postImport,
} from '../upgrades/history.js';

/** The data folders that earlier services have written; `tests/upgrades/make.ts` tells how. */
const FOLDERS = readdirSync('tests/upgrades', { withFileTypes: true }).filter((entry) => entry.isDirectory());

/** The text of a record that earlier versions left out of the index, because it has too many words. */
const LONG_TEXT = longText(9_000);

/** Words of the records by the rules of search: case, accents, letters, ligatures, parts of texts without spaces. */
const SEARCHES = {
  products: [
    ...list`lam  tischbeleuchtungskorper  cafe cre  fi tab  strasse  isi  京タ  οδος  ガラ  हिन  u 7  edited`,
    ...[LONG_TEXT.slice(4_000, 4_010), LONG_TEXT.slice(7_900, 7_903)],
  ],
  users: ['strasse', 'lamp user', 'example moved', '京タ'],
};

const MONTH_MS = 31 * 24 * HOUR_MS;

for (const { name: folder } of FOLDERS)
  describe(`the data folder that the service of ${folder} has written`, () => {
    const root = temporaryFolder();
    const packed = (file: string) => readFileSync(join('tests/upgrades', folder, file));
    const history: History = JSON.parse(brotliDecompressSync(packed('history.json.br')).toString());
    const keys: Keys = JSON.parse(packed('keys.json').toString());
    const data = join(root, 'data');
    const settings = {
      PORT: '0',
      MANAGEMENT_PORT: '0',
      DATA_DIR: data,
      LOG_LEVEL: 'silent',
      RATE_LIMIT_REQUESTS: '1000000',
      PUBLIC_URL,
      TLS: 'proxy',
      TRUSTED_PROXIES: '127.0.0.1',
    };
    let service: Service;
    let client: ProxiedClient;
    /** The service sees the time a minute after the last request to the older one. */
    let offsetMs = Date.parse(history.madeAt) + 60_000 - Date.now();
    const token = (name: string) => ({ token: keys[name] ?? '' });
    /** The ids that were ever given, by the collection. */
    const known = (collection: (typeof EDITABLE)[number]) => [
      ...history.records[collection].map(({ id }) => id),
      ...history.deleted[collection],
    ];
    const unpack = (target: string) => {
      mkdirSync(target);
      for (const file of readdirSync(join('tests/upgrades', folder))) {
        const [, name] = /^(catalogue\..*)\.br$/.exec(file) ?? [];
        if (name) writeFileSync(join(target, name), brotliDecompressSync(packed(file)), { mode: 0o600 });
      }
    };

    before(async () => {
      unpack(data);
      const application: Application = await compose(loadSettings(settings));
      Object.assign(application.clock, { now: () => Date.now() + offsetMs });
      service = new Service(application);
      const { port, firstKey } = await service.start();
      expect(firstKey).to.equal(undefined);
      client = new ProxiedClient(port, undefined, keys[NAMES.first] ?? '');
      client.documented = documentedResponses(settings);
    });
    after(async () => {
      client?.close();
      await service?.stop();
    });

    for (const [collection, expected] of Object.entries(history.records))
      it(`has all ${collection} as they were, one by one and in the export`, async () => {
        const fields = fieldsOf(expected);
        expect(expected.length).to.be.greaterThan(4);
        expect(await all(client, collection as Collection, fields)).to.deep.equal(expected);
        for (const record of expected.slice(0, 20)) {
          const path = `/v1/${collection}/${record.id}`;
          expect((await client.get(`${path}?fields=${fields}`)).json).to.deep.equal(record);
          if ('version' in record)
            expect((await client.get(path)).headers.etag, path).to.equal(`"${record['version']}"`);
        }
      });

    it('has edited records with their versions, deleted ones and those of the seed', () => {
      const versions = history.records.products.map(({ version }) => version);
      expect(new Set(versions)).to.deep.equal(new Set([1, 2, 3, 5]));
      for (const collection of EDITABLE) expect(history.deleted[collection]).to.not.be.empty;
      expect(versions.length).to.be.greaterThan(300);
    });

    it('keeps the ids of deleted records away', async () => {
      for (const collection of EDITABLE)
        for (const id of history.deleted[collection])
          expect((await client.get(`/v1/${collection}/${id}`)).status, `${collection} ${id}`).to.equal(404);
    });

    it('accepts its API keys for their scopes and its access token, and refuses the revoked key', async () => {
      const status = async (name: string, path: string) => (await client.get(path, token(name))).status;
      for (const name of [NAMES.readOnly, NAMES.expiring, NAMES.command, NAMES.token]) {
        expect(await status(name, '/v1/products'), name).to.equal(200);
        expect(await status(name, '/v1/orders'), name).to.equal(403);
      }
      expect(await status(NAMES.orders, '/v1/orders')).to.equal(200);
      expect(await status(NAMES.orders, '/v1/products')).to.equal(403);
      expect(await status(NAMES.revoked, '/v1/products')).to.equal(401);
      expect((await client.post('/v1/products', { name: 'x' }, token(NAMES.readOnly))).status).to.equal(403);
    });

    it('replays each creation and import that is sent again, and refuses another body', async () => {
      for (const { path, by, idempotencyKey, body, ...first } of history.creations) {
        const headers = { 'Idempotency-Key': idempotencyKey };
        const again = await client.post(path, body, { headers, ...token(by) });
        const { location, etag } = again.headers;
        expect({ status: again.status, location, etag, response: again.text }).to.deep.equal(first);
        expect(again.headers['idempotency-replayed']).to.equal('true');
        const other = await client.post(path, { ...Object(body), name: 'Other' }, { headers, ...token(by) });
        expect(other.status, idempotencyKey).to.be.oneOf([400, 422]);
      }
      const { text } = await postImport(client, history.import);
      const outcomes = (results: readonly Record<string, unknown>[]) =>
        results.map(({ line, status, id }) => ({ line, status, id }));
      expect(outcomes(jsonLines(text))).to.deep.equal(outcomes(history.import.results));
      expect(text.split('"replayed":true')).to.have.length(history.import.results.length);
      const { products } = history.records;
      expect(await all(client, 'products', fieldsOf(products))).to.deep.equal(products);
    });

    it('is searched by words at once, and after an edit', async () => {
      await expectSearches();
      const [id = 0, ...others] = await found('products', 'tischbeleuchtungskorper');
      const empty = { name: 'Neuigkeit', description: null, attributes: null };
      expect((await client.patch(`/v1/products/${id}`, empty)).status).to.equal(200);
      expect(await found('products', 'tischbeleuchtungskorper')).to.deep.equal(others);
      expect(await found('products', 'neuigk')).to.deep.equal([id]);
    });

    it('gives no id twice', async () => {
      const [user, product] = [history.records.users[0], history.records.products[0]];
      const bodies = {
        products: () => ({ name: 'New' }),
        users: (at: number) => ({ name: 'New', email: `new.${at}@example.com` }),
        orders: () => ({ userId: user?.id, items: [{ productId: product?.id, quantity: 1 }] }),
      };
      for (const collection of EDITABLE) {
        const given = new Set(known(collection));
        for (let at = 0; at < 5; at++) {
          const { status, json } = await client.post(`/v1/${collection}`, bodies[collection](at));
          expect(status, collection).to.equal(201);
          expect(given, collection).to.not.include(json.id);
          given.add(json.id);
        }
      }
    });

    it('passes `catalogue check` and is backed up while the service runs', async () => {
      const { code, out } = await runInProcess(['check', '--deep'], settings);
      expect([code, out.match(/^(wrong|warning).*/gm)], out).to.deep.equal([0, null]);
      const file = join(root, 'backup.sqlite');
      expect(await runInProcess(['backup', file], settings)).to.include({ code: 0, err: '' });
      const count = (path: string) => rows(path, 'SELECT count(*), sum(version) FROM products');
      expect(count(file)).to.deep.equal(count(join(data, 'catalogue.sqlite')));
    });

    it('keeps its schema if no step was missing, so that the older service can open it again', () => {
      const original = join(root, 'original');
      unpack(original);
      const [before, now] = [original, data].map((where) => {
        const file = join(where, 'catalogue.sqlite');
        const schema = rows(file, "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name");
        return { steps: Number(rows(file, 'PRAGMA user_version')[0]?.[0]), schema };
      });
      expect(now?.steps).to.be.at.least(before?.steps ?? 0);
      if (now?.steps === before?.steps) expect(now).to.deep.equal(before);
    });

    it('refuses an API key from its end on', async () => {
      offsetMs += MONTH_MS;
      await expectRefusal(client.get('/v1/products', token(NAMES.expiring)), 'token_expired');
      expect((await client.get('/v1/products', token(NAMES.readOnly))).status).to.equal(200);
    });

    async function listed(path: string): Promise<Item[]> {
      const items: Item[] = [];
      for await (const item of recordsOf(client, path)) items.push(item);
      return items;
    }

    async function expectSearches(): Promise<void> {
      for (const table of ['products', 'users'] as const) {
        const records = history.records[table].map(asRecord);
        for (const text of SEARCHES[table]) {
          const expected = expectedFinds(table, records, text);
          expect(expected, text).to.not.be.empty;
          expect(await found(table, text), text).to.deep.equal(expected);
        }
      }
      expect(await found('products', LONG_TEXT.slice(8_600, 8_610)), 'beyond the words that count').to.be.empty;
    }

    async function found(table: string, text: string): Promise<number[]> {
      return (await listed(`/v1/${table}?q=${encodeURIComponent(text)}`)).map(({ id }) => id);
    }
  });

/** The fields of records as their release showed them. */
function fieldsOf(records: readonly Item[]): string {
  return [...new Set(records.flatMap(Object.keys))].join();
}

function asRecord({ id, ...fields }: Item): Versioned<object> {
  return { id, fields, version: 1, createdAt: 0, updatedAt: 0 };
}

function rows(file: string, sql: string): unknown[][] {
  const database = new Database(file, { readonly: true });
  try {
    return database.prepare(sql).raw().all() as unknown[][];
  } finally {
    database.close();
  }
}
