/** Bare Koa: a router, a body parser and a Map. The ratios of the report are to this server. */
import { createServer } from 'node:https';
import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { announce, certificate, productsInMemory } from './start.js';

const products = productsInMemory();
const router = new Router();

router.get('/v1/products', (ctx) => {
  const { limit = '20', cursor = '0' } = ctx.query;
  const page = products.page(Number(cursor), Number(limit));
  if (page.next) ctx.set('Link', page.next);
  ctx.body = page.products;
});

router.get('/v1/products/:id', (ctx) => {
  const entry = products.find(Number(ctx['params']['id']));
  if (!entry) return;
  ctx.status = 200;
  ctx.set('ETag', `"${entry.version}"`);
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = entry.product;
});

router.post('/v1/products', (ctx) => {
  const { version, product } = products.create(ctx.request.body as Record<string, unknown>);
  ctx.status = 201;
  ctx.set('Location', `/v1/products/${product.id}`);
  ctx.set('ETag', `"${version}"`);
  ctx.body = product;
});

router.patch('/v1/products/:id', (ctx) => {
  const entry = products.patch(Number(ctx['params']['id']), ctx.request.body as Record<string, unknown>);
  if (!entry) return;
  ctx.set('ETag', `"${entry.version}"`);
  ctx.body = entry.product;
});

const app = new Koa();
app.use(bodyParser({ extendTypes: { json: ['application/merge-patch+json'] } }));
app.use(router.routes());
const server = createServer(certificate(), app.callback());
server.listen(0, '127.0.0.1', () => announce(server));
