/** Uses the client of `openapi-generator -g typescript-fetch`. */
import assert from 'node:assert/strict';
import { Configuration, ListProductsSortEnum, type Product, ProductsApi, ResponseError } from './catalogue/index';

const { CATALOGUE_URL: basePath = '', CATALOGUE_TOKEN: accessToken = '' } = process.env;
const products = new ProductsApi(new Configuration({ basePath, accessToken }));

const created: Product[] = [];
for (const name of ['tsf lamp', 'tsf lamp', 'tsf chair']) {
  const key = `tsf-${created.length}`;
  const attributes = { colour: 'green', watts: 7.5, dimmable: true };
  const productInput = { name, sku: key, price: { amount: 4990, currency: 'EUR' }, attributes };
  created.push(await products.createProduct({ productInput, idempotencyKey: key }));
}
const [first, second, third] = created;
assert(first && second && third);
assert.deepEqual(first.attributes, { colour: 'green', watts: 7.5, dimmable: true });

const { Name, Id2: IdDescending } = ListProductsSortEnum;
const list = { sort: [Name, IdDescending], limit: 2, namePrefix: 'tsf ' };
const page = await products.listProductsRaw(list);
const next = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(page.raw.headers.get('Link') ?? '');
assert(next?.[1]);
const rest = await products.listProducts({ ...list, cursor: decodeURIComponent(next[1]) });
const ids = [...(await page.value()), ...rest].map(({ id }) => id);
assert.deepEqual(ids, [third.id, second.id, first.id]);

const { id } = first;
const patched = await products.patchProductRaw({ id, productPatch: { description: 'Brass', sku: null } });
const { description, sku } = await patched.value();
assert.deepEqual({ description, sku }, { description: 'Brass', sku: undefined });

const productReplacement = { name: 'tsf desk lamp' };
await assert.rejects(
  products.replaceProduct({ id, productReplacement, ifMatch: '"1"' }),
  (error) => error instanceof ResponseError && error.response.status === 412,
);
const ifMatch = patched.raw.headers.get('ETag') ?? '';
const replaced = await products.replaceProduct({ id, productReplacement, ifMatch });
assert.equal(replaced.price, undefined);

await products.deleteProduct({ id });
await assert.rejects(
  products.getProduct({ id }),
  (error) => error instanceof ResponseError && error.response.status === 404,
);
