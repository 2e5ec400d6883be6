/** Uses the client of hey-api. */
import assert from 'node:assert/strict';
import { client } from './catalogue/client.gen';
import {
  createProduct,
  deleteProduct,
  getProduct,
  listProducts,
  type Product,
  patchProduct,
  replaceProduct,
} from './catalogue/index';

const { CATALOGUE_URL: baseUrl = '', CATALOGUE_TOKEN: token = '' } = process.env;
client.setConfig({ baseUrl, auth: token });

const created: Product[] = [];
for (const name of ['hey lamp', 'hey lamp', 'hey chair']) {
  const key = `hey-${created.length}`;
  const attributes = { colour: 'green', watts: 7.5, dimmable: true };
  const { data } = await createProduct({
    body: { name, sku: key, price: { amount: 4990, currency: 'EUR' }, attributes },
    headers: { 'Idempotency-Key': key },
    throwOnError: true,
  });
  created.push(data);
}
const [first, second, third] = created;
assert(first && second && third);
assert.deepEqual(first.attributes, { colour: 'green', watts: 7.5, dimmable: true });

const query = { sort: ['name' as const, '-id' as const], limit: 2, 'name.prefix': 'hey ' };
const page = await listProducts({ query, throwOnError: true });
const next = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(page.response.headers.get('Link') ?? '');
assert(next?.[1]);
const cursor = decodeURIComponent(next[1]);
const rest = await listProducts({ query: { ...query, cursor }, throwOnError: true });
const ids = [...page.data, ...rest.data].map(({ id }) => id);
assert.deepEqual(ids, [third.id, second.id, first.id]);

const path = { id: first.id };
const patched = await patchProduct({ path, body: { description: 'Brass', sku: null }, throwOnError: true });
assert.equal(patched.data.description, 'Brass');
assert.equal(patched.data.sku, undefined);

const body = { name: 'hey desk lamp' };
const stale = await replaceProduct({ path, body, headers: { 'If-Match': '"1"' } });
assert.equal(stale.response?.status, 412);
assert.equal(stale.error?.code, 'precondition_failed');
const tag = patched.response.headers.get('ETag') ?? '';
const replaced = await replaceProduct({ path, body, headers: { 'If-Match': tag }, throwOnError: true });
assert.equal(replaced.data.price, undefined);

const deleted = await deleteProduct({ path });
assert.equal(deleted.response?.status, 204);
const gone = await getProduct({ path });
assert.equal(gone.error?.code, 'not_found');
