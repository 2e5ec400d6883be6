/** Uses the client of orval. */
import assert from 'node:assert/strict';
import {
  createProduct,
  deleteProduct,
  getProduct,
  listProducts,
  type Product,
  patchProduct,
  replaceProduct,
} from './catalogue/client';

const created: Product[] = [];
for (const name of ['orval lamp', 'orval lamp', 'orval chair']) {
  const key = `orval-${created.length}`;
  const attributes = { colour: 'green', watts: 7.5, dimmable: true };
  const input = { name, sku: key, price: { amount: 4990, currency: 'EUR' }, attributes };
  const response = await createProduct(input, { headers: { 'Idempotency-Key': key } });
  assert(response.status === 201);
  created.push(response.data);
}
const [first, second, third] = created;
assert(first && second && third);
assert.deepEqual(first.attributes, { colour: 'green', watts: 7.5, dimmable: true });

const list = { sort: ['name' as const, '-id' as const], limit: 2, 'name.prefix': 'orval ' };
const page = await listProducts(list);
assert(page.status === 200);
const next = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(page.headers.get('Link') ?? '');
assert(next?.[1]);
const rest = await listProducts({ ...list, cursor: decodeURIComponent(next[1]) });
assert(rest.status === 200);
const ids = [...page.data, ...rest.data].map(({ id }) => id);
assert.deepEqual(ids, [third.id, second.id, first.id]);

const { id } = first;
const patched = await patchProduct(id, { description: 'Brass', sku: null });
assert(patched.status === 200);
assert.equal(patched.data.description, 'Brass');
assert.equal(patched.data.sku, undefined);

const replacement = { name: 'orval desk lamp' };
const stale = await replaceProduct(id, replacement, { headers: { 'If-Match': '"1"' } });
assert(stale.status === 412);
assert.equal(stale.data.code, 'precondition_failed');
const tag = patched.headers.get('ETag') ?? '';
const replaced = await replaceProduct(id, replacement, { headers: { 'If-Match': tag } });
assert(replaced.status === 200);
assert.equal(replaced.data.price, undefined);

const deleted = await deleteProduct(id);
assert.equal(deleted.status, 204);
const gone = await getProduct(id);
assert.equal(gone.status, 404);
