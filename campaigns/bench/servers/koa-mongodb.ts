/**
 * Bare Koa whose handlers make the driver calls that the service makes too: one read or one write of a document, and
 * the number of a new one from a counter. Arguments: CERTIFICATE_FILE PRODUCTS_FILE; environment: MONGODB_URL.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { MongoClient } from 'mongodb';
import type { Draft } from './products.js';
import { announce, certificate } from './start.js';

interface Stored {
  readonly _id: number;
  readonly version: number;
  readonly fields: Draft;
}

const [, , , productsFile = ''] = process.argv;
const { MONGODB_URL: url = '' } = process.env;
const client = await new MongoClient(url, { writeConcern: { w: 'majority', journal: true } }).connect();
const products = client.db().collection<Stored>('products');
const counters = client.db().collection<{ _id: string; last: number }>('counters');
const lines = readFileSync(productsFile, 'utf8').trimEnd().split('\n');
await products.insertMany(lines.map((line, at) => ({ _id: at + 1, version: 1, fields: JSON.parse(line) })));
await products.createIndex({ 'fields.sku': 1 }, { unique: true, sparse: true });
await counters.insertOne({ _id: 'products', last: lines.length });

const shown = ({ _id, fields }: Stored) => ({ id: _id, ...fields });
const router = new Router();

router.get('/v1/products', async (ctx) => {
  const [limit, after] = [Number(ctx.query['limit'] ?? 20), Number(ctx.query['cursor'] ?? 0)];
  const found = await products
    .find({ _id: { $gt: after } })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
  const last = found.at(-1);
  if (last && found.length === limit) ctx.set('Link', `</v1/products?limit=${limit}&cursor=${last._id}>; rel="next"`);
  ctx.body = found.map(shown);
});

router.get('/v1/products/:id', async (ctx) => {
  const found = await products.findOne({ _id: Number(ctx['params']['id']) });
  if (!found) return;
  ctx.status = 200;
  ctx.set('ETag', `"${found.version}"`);
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = shown(found);
});

router.post('/v1/products', async (ctx) => {
  const counter = await counters.findOneAndUpdate(
    { _id: 'products' },
    { $inc: { last: 1 } },
    { returnDocument: 'after' },
  );
  const stored = { _id: counter?.last ?? 0, version: 1, fields: ctx.request.body as Draft };
  await products.insertOne(stored);
  ctx.status = 201;
  ctx.set('Location', `/v1/products/${stored._id}`);
  ctx.set('ETag', '"1"');
  ctx.body = shown(stored);
});

router.patch('/v1/products/:id', async (ctx) => {
  const found = await products.findOne({ _id: Number(ctx['params']['id']) });
  if (!found) return;
  const changed = {
    ...found,
    version: found.version + 1,
    fields: { ...found.fields, ...(ctx.request.body as Draft) },
  };
  await products.replaceOne({ _id: found._id, version: found.version }, changed);
  ctx.set('ETag', `"${changed.version}"`);
  ctx.body = shown(changed);
});

const app = new Koa();
app.use(bodyParser({ extendTypes: { json: ['application/merge-patch+json'] } }));
app.use(router.routes());
const server = createServer(certificate(), app.callback());
server.listen(0, '127.0.0.1', () => announce(server));
