/**
 * Bare Koa whose handlers make the driver calls that the service makes too: one read or one write of a row, and ids of
 * new ones from a counter, 32 at once. Arguments: CERTIFICATE_FILE PRODUCTS_FILE; environment: POSTGRESQL_URL.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import pg from 'pg';
import { IdAllocator } from '#src/application/records/id-allocator.js';
import type { Draft } from './products.js';
import { announce, certificate } from './start.js';

type Row = [id: number, version: number, fields: string];

const [, , , productsFile = ''] = process.argv;
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString: process.env['POSTGRESQL_URL'], max: 10 });
await pool.query(`
  CREATE TABLE products (id bigint PRIMARY KEY, version bigint NOT NULL, fields text NOT NULL, sku text UNIQUE);
  CREATE TABLE counters (name text PRIMARY KEY, next_id bigint NOT NULL)`);
const lines = readFileSync(productsFile, 'utf8').trimEnd().split('\n');
await pool.query(
  `INSERT INTO products SELECT at, 1, fields, fields::json->>'sku'
    FROM unnest($1::text[]) WITH ORDINALITY AS lines(fields, at)`,
  [lines],
);
await pool.query('INSERT INTO counters VALUES ($1, $2)', ['products', lines.length + 1]);

const statement = (name: string, text: string) => async (values: unknown[]) =>
  (await pool.query<Row>({ name, text, values, rowMode: 'array' })).rows;
const select = statement('select', 'SELECT id, version, fields FROM products WHERE id = $1');
const page = statement('page', 'SELECT id, version, fields FROM products WHERE id > $1 ORDER BY id LIMIT $2');
const insert = statement('insert', 'INSERT INTO products VALUES ($1, 1, $2, $3)');
const update = statement(
  'update',
  'UPDATE products SET version = version + 1, fields = $3, sku = $4 WHERE id = $1 AND version = $2',
);
const reserve = statement(
  'reserve',
  "UPDATE counters SET next_id = next_id + $1 WHERE name = 'products' RETURNING next_id - $1",
);
const ids = new IdAllocator({
  reserveIds: async (count) => (await reserve([count]))[0]?.[0] ?? 0,
  releaseIds: async () => {},
});

const shown = ([id, , fields]: Row) => ({ id, ...(JSON.parse(fields) as Draft) });
const router = new Router();

router.get('/v1/products', async (ctx) => {
  const [limit, after] = [Number(ctx.query['limit'] ?? 20), Number(ctx.query['cursor'] ?? 0)];
  const found = await page([after, limit]);
  const last = found.at(-1);
  if (last && found.length === limit) ctx.set('Link', `</v1/products?limit=${limit}&cursor=${last[0]}>; rel="next"`);
  ctx.body = found.map(shown);
});

router.get('/v1/products/:id', async (ctx) => {
  const [found] = await select([Number(ctx['params']['id'])]);
  if (!found) return;
  ctx.status = 200;
  ctx.set('ETag', `"${found[1]}"`);
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = shown(found);
});

router.post('/v1/products', async (ctx) => {
  const [id = 0] = await ids.take(1);
  const draft = ctx.request.body as Draft;
  await insert([id, JSON.stringify(draft), draft['sku']]);
  ctx.status = 201;
  ctx.set('Location', `/v1/products/${id}`);
  ctx.set('ETag', '"1"');
  ctx.body = { id, ...draft };
});

router.patch('/v1/products/:id', async (ctx) => {
  const [found] = await select([Number(ctx['params']['id'])]);
  if (!found) return;
  const [id, version, before] = found;
  const fields = { ...JSON.parse(before), ...(ctx.request.body as Draft) };
  await update([id, version, JSON.stringify(fields), fields.sku]);
  ctx.set('ETag', `"${version + 1}"`);
  ctx.body = { id, ...fields };
});

const app = new Koa();
app.use(bodyParser({ extendTypes: { json: ['application/merge-patch+json'] } }));
app.use(router.routes());
const server = createServer(certificate(), app.callback());
server.listen(0, '127.0.0.1', () => announce(server));
