/** Uses the client of kubb. */
import assert from 'node:assert/strict';
import {
  createProduct,
  deleteProduct,
  getProduct,
  listProducts,
  type Product,
  patchProduct,
  replaceProduct,
} from './catalogue';

const created: Product[] = [];
for (const name of ['kubb lamp', 'kubb lamp', 'kubb chair']) {
  const key = `kubb-${created.length}`;
  const attributes = { colour: 'green', watts: 7.5, dimmable: true };
  const input = { name, sku: key, price: { amount: 4990, currency: 'EUR' }, attributes };
  const response = await createProduct(input, { 'Idempotency-Key': key });
  assert.equal(response.status, 201);
  created.push(response.data);
}
const [first, second, third] = created;
assert(first && second && third);
assert.deepEqual(first.attributes, { colour: 'green', watts: 7.5, dimmable: true });

const list = { sort: ['name' as const, '-id' as const], limit: 2, 'name.prefix': 'kubb ' };
const page = await listProducts(list);
const next = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(page.headers.get('Link') ?? '');
// As NDJSON and CSV a list is a text.
assert(Array.isArray(page.data) && next?.[1]);
const rest = await listProducts({ ...list, cursor: decodeURIComponent(next[1]) });
assert(Array.isArray(rest.data));
const ids = [...page.data, ...rest.data].map(({ id }) => id);
assert.deepEqual(ids, [third.id, second.id, first.id]);

const path = { id: first.id };
const patched = await patchProduct(path, { description: 'Brass', sku: null });
assert.equal(patched.data.description, 'Brass');
assert.equal(patched.data.sku, undefined);

const replacement = { name: 'kubb desk lamp' };
const stale = await replaceProduct(path, replacement, { 'If-Match': '"1"' });
assert.equal(stale.status, 412);
const tag = patched.headers.get('ETag') ?? '';
const replaced = await replaceProduct(path, replacement, { 'If-Match': tag });
assert.equal(replaced.data.price, undefined);

assert.equal((await deleteProduct(path)).status, 204);
assert.equal((await getProduct(path)).status, 404);
