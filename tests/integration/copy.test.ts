import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import type { HttpClient } from '../support/http-client.js';
import { mongoUrl } from '../support/mongo-url.js';
import { catalogue, SpawnedService } from '../support/spawned-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';

async function everything(client: HttpClient): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let path = '/products?limit=1000'; path !== ''; ) {
    const page = await client.get(path);
    for (const product of page.json)
      found.push([product, (await client.get(`/products/${product.id}`)).headers.etag]);
    path = /<([^>]*)>; rel="next"/.exec(String(page.headers['link']))?.[1] ?? '';
  }
  return found;
}

describe('catalogue copy', () => {
  const root = temporaryFolder();
  const folder = () => mkdtempSync(join(root, 'run-'));
  const database = `copy-${randomUUID()}`;

  after(async () => {
    const client = new MongoClient(mongoUrl(database));
    await client.db().dropDatabase();
    await client.close();
  });

  it('carries a catalogue from SQLite to MongoDB and back: keys, versions, deletions, the next id', async () => {
    const first = new SpawnedService(folder());
    const onSqlite = await first.started();
    const key = first.firstKey;
    for (let i = 1; i <= 40; i++) {
      await onSqlite.post('/products', {
        name: `product ${i} 😀`,
        sku: `s${i}`,
        attributes: { 'a.b': i, $c: 'x' },
      });
    }
    await onSqlite.patch('/products/3', { name: 'changed' });
    for (const id of [7, 40]) await onSqlite.delete(`/products/${id}`);
    const expected = await everything(onSqlite);
    onSqlite.close();
    await first.stop();

    const url = mongoUrl(database);
    const [from, to] = ['sqlite:data/catalogue.sqlite', url];
    for (const written of [40, 0]) {
      const { code, out, err } = await catalogue(first.folder, ['copy', '--from', from, '--to', to]);
      expect([code, err]).to.deep.equal([0, '']);
      expect(out).to.include(`products: 38 records, 2 tombstones, ${written} of them written now`);
      expect(out).to.include('api_keys: 1 records');
    }

    const second = new SpawnedService(folder(), { STORE: 'mongodb', MONGODB_URL: url });
    const onMongo = await second.started(key);
    expect(second.firstKey, 'no second first key').to.equal('');
    expect(await everything(onMongo)).to.deep.equal(expected);
    expect((await onMongo.get('/products/7')).status).to.equal(404);
    expect((await onMongo.post('/products', { name: 'next', sku: 's7' })).json.id).to.equal(41);
    expect((await onMongo.post('/products', { name: 'again', sku: 's1' })).status).to.equal(409);
    const after = await everything(onMongo);
    onMongo.close();
    await second.stop();

    const back = folder();
    expect(
      (await catalogue(back, ['copy', '--from', url, '--to', 'sqlite:data/catalogue.sqlite'])).code,
    ).to.equal(0);
    const third = new SpawnedService(back);
    const again = await third.started(key);
    expect(await everything(again)).to.deep.equal(after);
    again.close();
    await third.stop();
  });

  it('explains itself where it is misused, and makes no file by mistake', async () => {
    const where = folder();
    for (const [args, code] of [
      [[], 64],
      [['--from', 'sqlite:x'], 64],
      [['--from', 'sqlite:absent.sqlite', '--to', 'sqlite:y'], 1],
      [['--from', 'postgres://x', '--to', 'sqlite:y'], 1],
      [['--from', 'mongodb://127.0.0.1:1/x', '--to', 'sqlite:y'], 75],
    ] as const) {
      const run = await catalogue(where, ['copy', ...args]);
      expect(run.code, `${args.join(' ')} ${run.err}`).to.equal(code);
      expect(run.err).to.not.include('    at ');
    }
  });
});
