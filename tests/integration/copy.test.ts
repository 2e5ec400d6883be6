import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { MongoClient } from 'mongodb';
import { KEPT_STORES } from '../stores/index.js';
import { ChildProcessService, catalogue } from '../support/child-process-service.js';
import type { HttpClient, HttpResponse } from '../support/http-client.js';
import { keyed } from '../support/idempotent-posts.js';
import { linksOf } from '../support/links.js';
import { mongoUrl } from '../support/mongo-url.js';
import { sized } from '../support/run-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** What the tags of a copy have behind the version. */
const GENERATION = /-[0-9a-f]{10}"$/;

/** Returns all products with their ETags. */
async function everything(client: HttpClient): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let path = '/products?limit=1000'; path !== ''; ) {
    const page = await client.get(path);
    for (const product of page.json)
      found.push([product, `${(await client.get(`/products/${product.id}`)).headers.etag}`.replace(GENERATION, '"')]);
    path = linksOf(page.headers['link'])['next'] ?? '';
  }
  return found;
}

/** The tables of SQLite that a copy carries. The others are indexes of words, and the usage of API keys. */
const COPIED = 'counters tombstones products products_values users orders api_keys signing_keys reservations';

/** Returns the rows of these tables as they are stored, in the order of their keys, without what belongs to a feed. */
function rowsIn(file: string): Readonly<Record<string, readonly unknown[]>> {
  const database = new Database(file, { readonly: true });
  const rows = COPIED.split(' ').map((table) => {
    const all = database.prepare(`SELECT * FROM ${table}`).all() as object[];
    const ofFeed = table === 'tombstones' ? ['change', 'version'] : ['change'];
    return [table, all.map((row) => Object.entries(row).filter(([name]) => !ofFeed.includes(name)))];
  });
  database.close();
  return Object.fromEntries(rows);
}

/** Names that stores may write in other ways: quotes, characters beyond 16 bits, and such that look alike. */
const NAMES = ['😀 ﬁ', 'O\'Neil \\ "x"', 'é e\u0301', '  spaces  ', '\ue000 \u{10ffff}', '{"a":1}', '%_$1', 'ß SS ı'];

describe('catalogue copy', () => {
  const root = temporaryFolder();
  const folder = () => mkdtempSync(join(root, 'run-'));
  const databases: string[] = [];
  const freshUrl = () => {
    const url = mongoUrl(`copy-${randomUUID()}`);
    databases.push(url);
    return url;
  };

  after(async () => {
    for (const url of databases) {
      const client = new MongoClient(url);
      await client.db().dropDatabase();
      await client.close();
    }
  });

  it('copies what a service on the new store goes on with: keys, versions, the next id, first responses', async () => {
    const first = new ChildProcessService(folder());
    const onSqlite = await first.started();
    const create = (client: HttpClient, key: string) =>
      client.post('/products', { name: `of ${key}`, sku: key }, keyed(key));
    const made = new Map<string, HttpResponse>();
    for (const key of ['unchanged', 'changed', 'deleted']) made.set(key, await create(onSqlite, key));
    await onSqlite.patch('/products/2', { name: 'another' });
    await onSqlite.delete('/products/3');
    const expected = await everything(onSqlite);
    onSqlite.close();
    await first.stop();

    const url = freshUrl();
    const copied = await catalogue(first.folder, ['copy', '--from', 'sqlite:data/catalogue.sqlite', '--to', url]);
    expect([copied.code, copied.err]).to.deep.equal([0, '']);
    for (const line of ['products: 2 records, 1 tombstones; both sides SHA-256 ', 'products: 3 reservations; '])
      expect(copied.out).to.include(line);
    expect(copied.out).to.include('api_keys: 1 records').and.to.include('orders: 0 reservations; ');

    const second = new ChildProcessService(folder(), { STORE: 'mongodb', MONGODB_URL: url });
    const onMongo = await second.started(first.firstKey);
    expect(second.firstKey, 'no new first key').to.equal('');
    expect(await everything(onMongo)).to.deep.equal(expected);
    for (const [key, { text, headers }] of made) {
      const retry = await create(onMongo, key);
      expect(retry.headers, key).to.include({ 'idempotency-replayed': 'true', location: headers.location });
      expect([retry.status, retry.text]).to.deep.equal([201, text]);
    }
    expect(await everything(onMongo)).to.deep.equal(expected);
    expect((await onMongo.get('/products/3')).status).to.equal(404);
    expect((await onMongo.get('/products/2')).headers.etag).to.match(GENERATION);
    const reused = await onMongo.post('/products', { name: 'other' }, keyed('unchanged'));
    expect(reused.json.code).to.equal('idempotency_key_reused');
    const next = await create(onMongo, 'fresh');
    expect([next.status, next.headers['idempotency-replayed'], next.json.id]).to.deep.equal([201, undefined, 4]);
    onMongo.close();
    await second.stop();
  });

  it('copies a catalogue from SQLite through every other store and back, byte for byte', async () => {
    const where = folder();
    const service = new ChildProcessService(where);
    const client = await service.started();
    const lines = Array.from({ length: sized({ gate: 300, night: 5_000 }) }, (_, at) => ({
      name: NAMES[at % NAMES.length],
      sku: `s${at}`,
      ...(at % 3 === 0 && { price: { amount: at * 2 ** 40, currency: 'EUR' } }),
      ...(at % 5 === 0 && { tags: [`t${at % 7}`, '😀'], stock: at }),
      attributes: { 'a.b': at / 7, $c: -0.1, '': null, text: NAMES[(at + 1) % NAMES.length], yes: at % 2 === 0 },
    }));
    const imported = await client.post('/products/imports', lines.map((line) => JSON.stringify(line)).join('\n'), {
      headers: { 'Content-Type': 'application/x-ndjson', 'Idempotency-Key': 'lines' },
    });
    expect(imported.text.match(/"status": ?201/g), imported.text.slice(0, 500)).to.have.length(lines.length);
    for (let at = 1; at <= 20; at++) {
      const user = { name: `User ${at}`, email: `Ann.${at}@EXAMPLE.org` };
      const { json } = await client.post('/users', user, { headers: { 'Idempotency-Key': `u${at}` } });
      await client.post('/orders', { userId: json.id, items: [{ productId: at, quantity: at }] });
      await client.patch(`/products/${at}`, { name: `changed ${at}`, sku: null });
      if (at % 4 === 0) await client.delete(`/products/${at + 100}`);
      if (at % 10 === 0) await client.delete(`/users/${at}`);
    }
    client.close();
    await service.stop();

    const others = KEPT_STORES.filter(({ name }) => name !== 'sqlite');
    const created = await Promise.all(others.map((store) => store.create(folder())));
    const urls = created.map(({ settings: { STORE: _, ...url } }) => Object.values(url)[0] as string);
    const way = ['sqlite:data/catalogue.sqlite', ...urls, 'sqlite:back.sqlite'];
    for (const [at, to] of way.slice(1).entries()) {
      const { code, err } = await catalogue(where, ['copy', '--from', way[at] as string, '--to', to]);
      expect([code, err]).to.deep.equal([0, '']);
    }
    for (const { remove } of created) await remove();
    const [before, after] = ['data/catalogue.sqlite', 'back.sqlite'].map((file) => rowsIn(join(where, file)));
    // A table whose ids were never reserved has a counter in a copy only.
    expect(after?.['counters']).to.include.deep.members(before?.['counters'] as unknown[]);
    for (const table of COPIED.split(' ').slice(1)) expect(after?.[table], table).to.deep.equal(before?.[table]);
    expect(before?.['products']).to.have.length(lines.length - 5);
  });

  for (const store of KEPT_STORES)
    it(`that broke off leaves a target which all refuse until it is overwritten: ${store.name}`, async () => {
      const where = folder();
      expect((await catalogue(where, ['seed', '--products', '20'])).code).to.equal(0);
      const source = join(where, 'data/catalogue.sqlite');
      const change = (sql: string) => {
        const database = new Database(source);
        database.exec(sql);
        database.close();
      };
      // An order that no copy takes: the products are in the target by then.
      change(`INSERT INTO orders (id, record_version, created_at, updated_at, fields) VALUES (0, 1, 0, 0, '{}')`);
      const { settings, remove } = await store.create(folder());
      const { STORE: _, ...url } = settings;
      const [to] = Object.values(url).map((value) => (store.name === 'sqlite' ? `sqlite:${value}` : value));
      const copy = (...more: string[]) =>
        catalogue(where, ['copy', '--from', `sqlite:${source}`, '--to', `${to}`, ...more]);
      const inTarget = (...args: string[]) => catalogue(where, args, settings);
      expect(await copy()).to.include({ code: 65 });

      for (const args of [['serve'], ['keys', 'list'], ['signing-keys', 'list'], ['seed', '--products', '1']]) {
        const { code, err } = await inTarget(...args);
        expect([args, code]).to.deep.equal([args, 78]);
        expect(err).to.include('a copy to this store has not ended');
      }
      if (store.name === 'sqlite')
        for (const args of [
          ['backup', 'b.sqlite'],
          ['restore', source],
        ])
          expect([args, (await inTarget(...args)).code]).to.deep.equal([args, 78]);
      expect((await catalogue(where, ['copy', '--from', `${to}`, '--to', 'sqlite:x.sqlite'])).code).to.equal(78);
      const checked = await inTarget('check');
      expect([checked.code, checked.out]).to.satisfy(([code, out]: [number, string]) => {
        return code === 1 && /a copy to this store has not ended\n.*--overwrite/.test(out);
      });
      const again = await copy();
      expect([again.code, again.err]).to.deep.equal([
        65,
        'The target is not empty: products: 20 records, 0 tombstones. ' +
          'It is of a copy that broke off: --overwrite deletes it.\n',
      ]);

      change('DELETE FROM orders');
      const overwritten = await copy('--overwrite', '--json');
      expect([overwritten.code, overwritten.err]).to.deep.equal([0, '']);
      const [deleted, products] = overwritten.out.split('\n').map((line) => line && JSON.parse(line));
      expect(deleted).to.deep.equal({ name: 'products', deleted: { record: 20, tombstone: 0 } });
      expect(products).to.include({ name: 'products', written: 20 });
      expect((await copy('--overwrite')).code).to.equal(65);
      await remove();
    });

  it('exits with 75 if a store cannot be reached', async () => {
    const args = ['copy', '--from', 'mongodb://127.0.0.1:1/x', '--to', 'sqlite:y'];
    const { code, err } = await catalogue(folder(), args);
    expect(code, err).to.equal(75);
    expect(err).to.not.include('    at ');
  });
});
