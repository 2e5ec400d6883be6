/** Uses openapi-fetch with the types of openapi-typescript. */
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './catalogue/schema';

const { CATALOGUE_URL: baseUrl = '', CATALOGUE_TOKEN: token = '' } = process.env;
const client = createClient<paths>({
  baseUrl,
  headers: { Authorization: `Bearer ${token}` },
  // The service takes several values with commas between them, as the document says.
  querySerializer: { array: { style: 'form', explode: false } },
});

const created: components['schemas']['Product'][] = [];
for (const name of ['fetch lamp', 'fetch lamp', 'fetch chair']) {
  const key = `fetch-${created.length}`;
  const attributes = { colour: 'green', watts: 7.5, dimmable: true };
  const { data } = await client.POST('/v1/products', {
    params: { header: { 'Idempotency-Key': key } },
    body: { name, sku: key, price: { amount: 4990, currency: 'EUR' }, attributes },
  });
  assert(data);
  created.push(data);
}
const [first, second, third] = created;
assert(first && second && third);
assert.deepEqual(first.attributes, { colour: 'green', watts: 7.5, dimmable: true });

const query = { sort: ['name' as const, '-id' as const], limit: 2, 'name.prefix': 'fetch ' };
const page = await client.GET('/v1/products', { params: { query } });
const next = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(page.response.headers.get('Link') ?? '');
// As NDJSON and CSV a list is a text.
assert(Array.isArray(page.data) && next?.[1]);
const cursor = decodeURIComponent(next[1]);
const rest = await client.GET('/v1/products', { params: { query: { ...query, cursor } } });
assert(Array.isArray(rest.data));
const ids = [...page.data, ...rest.data].map(({ id }) => id);
assert.deepEqual(ids, [third.id, second.id, first.id]);

const path = { id: first.id };
const patched = await client.PATCH('/v1/products/{id}', {
  params: { path },
  body: { description: 'Brass', sku: null },
});
assert.equal(patched.data?.description, 'Brass');
assert.equal(patched.data?.sku, undefined);

const body = { name: 'fetch desk lamp' };
const stale = await client.PUT('/v1/products/{id}', {
  params: { path, header: { 'If-Match': '"1"' } },
  body,
});
assert.equal(stale.response.status, 412);
assert.equal(stale.error?.code, 'precondition_failed');
const tag = patched.response.headers.get('ETag') ?? '';
const replaced = await client.PUT('/v1/products/{id}', {
  params: { path, header: { 'If-Match': tag } },
  body,
});
assert.equal(replaced.data?.price, undefined);

const deleted = await client.DELETE('/v1/products/{id}', { params: { path } });
assert.equal(deleted.response.status, 204);
const gone = await client.GET('/v1/products/{id}', { params: { path } });
assert.equal(gone.error?.code, 'not_found');
