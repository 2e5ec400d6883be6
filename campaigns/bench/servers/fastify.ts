/** Fastify on a Map, with schemas of bodies and responses, as its users write it for speed. */
import Fastify from 'fastify';
import type { Draft } from './products.js';
import { announce, certificate, productsInMemory } from './start.js';

const products = productsInMemory();

const fields = {
  name: { type: 'string', minLength: 1, maxLength: 200 },
  sku: { type: 'string' },
  description: { type: 'string' },
  price: {
    type: 'object',
    required: ['amount', 'currency'],
    properties: { amount: { type: 'integer' }, currency: { type: 'string' } },
  },
  attributes: { type: 'object', additionalProperties: true },
};
const product = { type: 'object', properties: { id: { type: 'integer' }, ...fields } };
const draft = { type: 'object', required: ['name'], additionalProperties: false, properties: fields };
const patch = { type: 'object', additionalProperties: false, properties: fields };
const response = { '2xx': product };

const app = Fastify({ https: certificate() });
app.addContentTypeParser(
  'application/merge-patch+json',
  { parseAs: 'string' },
  app.getDefaultJsonParser('error', 'error'),
);

app.get<{ Querystring: { limit: number; cursor: number } }>(
  '/v1/products',
  {
    schema: {
      querystring: {
        type: 'object',
        properties: { limit: { type: 'integer', default: 20 }, cursor: { type: 'integer', default: 0 } },
      },
      response: { '2xx': { type: 'array', items: product } },
    },
  },
  async (request, reply) => {
    const page = products.page(request.query.cursor, request.query.limit);
    if (page.next) reply.header('Link', page.next);
    return page.products;
  },
);

app.get<{ Params: { id: string } }>('/v1/products/:id', { schema: { response } }, async (request, reply) => {
  const entry = products.find(Number(request.params.id));
  if (!entry) return reply.code(404).send();
  const tag = `"${entry.version}"`;
  reply.header('ETag', tag);
  if (request.headers['if-none-match'] === tag) return reply.code(304).send();
  return entry.product;
});

app.post<{ Body: Draft }>('/v1/products', { schema: { body: draft, response } }, async (request, reply) => {
  const entry = products.create(request.body);
  reply.code(201).header('Location', `/v1/products/${entry.product.id}`).header('ETag', `"${entry.version}"`);
  return entry.product;
});

app.patch<{ Params: { id: string }; Body: Draft }>(
  '/v1/products/:id',
  { schema: { body: patch, response } },
  async (request, reply) => {
    const entry = products.patch(Number(request.params.id), request.body);
    if (!entry) return reply.code(404).send();
    reply.header('ETag', `"${entry.version}"`);
    return entry.product;
  },
);

await app.listen({ host: '127.0.0.1', port: 0 });
announce(app.server);
