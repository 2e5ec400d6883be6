import { clientCredentials, createCatalogue, type Product, type Snapshot } from 'product-catalogue-client';

/** Never called: the test is which lines compile. */
export async function typed(): Promise<unknown[]> {
  const { products, users, orders, apiKeys, GET, POST } = createCatalogue({ baseUrl: 'https://localhost:8443' });

  for await (const product of products.list({ 'price.amount.gte': 1000, sort: ['name', '-id'] as const })) {
    product satisfies Product;
    // @ts-expect-error A product need not have a price.
    product.price.amount;
    // @ts-expect-error Only `fields` selects metadata.
    product.version;
  }
  for await (const view of products.list({ fields: ['id', 'version', 'sku'], 'attributes.colour': 'black' })) {
    view satisfies { id: number; version: number; sku?: string };
    // @ts-expect-error The name was not requested.
    view.name;
  }

  products.list({ 'sku.in': ['L-1', 'L-2'] as const, 'id.in': [1] });
  products.list({ q: 'green lamp', 'sku.exists': false, 'price.amount.exists': true });
  products.list({ tags: 'sale', 'tags.all': ['sale', 'new'], 'tags.prefix': 'lighting/', 'images.exists': true });
  products.list({ status: 'draft', 'status.exists': false, 'stock.lt': 1, 'gtin.in': ['96385074'] });
  // @ts-expect-error One tag is an array too.
  products.list({ 'tags.all': 'sale' });
  // @ts-expect-error No product is found by another tag.
  products.list({ 'tags.ne': 'sale' });
  // @ts-expect-error A URL is there or not.
  products.list({ url: 'https://example.com' });
  // @ts-expect-error A stock is a number.
  products.list({ stock: 'none' });
  // @ts-expect-error No product can be sorted by its tags.
  products.list({ sort: ['tags'] });
  users.list({ q: 'ann' });
  // @ts-expect-error Orders are not searched by words.
  orders.list({ q: 'lamp' });
  // @ts-expect-error Every product has a name.
  products.list({ 'name.exists': true });
  // @ts-expect-error A product has a SKU or none.
  products.list({ 'sku.exists': 'yes' });
  // @ts-expect-error One value is an array too.
  products.list({ 'id.in': 1 });
  // @ts-expect-error No product can be sorted by its price.
  products.list({ sort: ['price'] });
  // @ts-expect-error There is no such filter.
  products.list({ 'name:like': 'x' });
  // @ts-expect-error An amount is a number.
  products.list({ 'price.amount.gte': 'much' });
  products.list({
    'attributes[colour].in': ['black', 7, true] as const,
    'attributes[watts].gte': 5,
    'attributes[watts].exists': true,
    'attributes[size]': 'XL',
    sort: ['-price.amount', 'stock'],
  });
  // @ts-expect-error One value is an array too.
  products.list({ 'attributes[colour].in': 'black' });
  // @ts-expect-error Only numbers are compared.
  products.list({ 'attributes[watts].lt': 'many' });
  // @ts-expect-error An attribute is there or not.
  products.list({ 'attributes[watts].exists': 'yes' });
  // @ts-expect-error Attributes have no prefix.
  products.list({ 'attributes[colour].prefix': 'b' });
  // @ts-expect-error The members of this object are parameters of their own.
  products.list({ 'attributes[].lt': { 'attributes[watts].lt': 5 } });

  const { facets, next } = await products.facets({
    fields: ['tags', 'attributes[colour]'] as const,
    limit: 5,
    q: 'lamp',
    'attributes[watts].lte': 10,
  });
  facets[0]?.values[0]?.value satisfies string | number | boolean | undefined;
  facets[0]?.more satisfies boolean | undefined;
  if (next !== undefined) await products.facets(next);
  // @ts-expect-error The fields are required.
  products.facets({ limit: 5 });
  // @ts-expect-error Facets have an order of their own.
  products.facets({ fields: ['brand'], sort: ['brand'] });
  // @ts-expect-error Users are not counted by value.
  users.facets({ fields: ['name'] });
  // @ts-expect-error Users are not counted by value.
  users.facets('/v1/users/facets');

  // @ts-expect-error Users have no attributes.
  users.list({ 'attributes.colour': 'black' });
  // @ts-expect-error There is no such field.
  orders.list({ fields: ['total'] });

  const lamp: Snapshot<Product> = await products.create({ name: 'Lamp' });
  // @ts-expect-error The name is required.
  await products.create({ sku: 'L-1' });
  // @ts-expect-error The service assigns ids.
  await products.create({ id: 7, name: 'Lamp' });
  await products.replace(lamp, { ...lamp.data, name: 'Torch' });
  await products.create({ name: 'Lamp', sku: null, price: null, attributes: { watts: null } });
  await products.replace(lamp, { name: 'Torch', description: null });
  const images = [{ url: 'https://example.com/1.jpg', alt: 'A lamp' }, { url: 'https://example.com/2.jpg' }];
  await products.create({ name: 'Lamp', status: 'draft', tags: ['sale'], images, gtin: '96385074', stock: 0 });
  await products.create({ name: 'Lamp', status: null, tags: null, images: null, stock: null });
  await products.patch(lamp, { status: null, tags: ['new'], images: null });
  lamp.data.status satisfies 'draft' | 'archived' | undefined;
  lamp.data.images?.[0]?.url satisfies string | undefined;
  // @ts-expect-error A live product has no status.
  await products.create({ name: 'Lamp', status: 'live' });
  // @ts-expect-error A GTIN is text: it may begin with zeros.
  await products.create({ name: 'Lamp', gtin: 96385074 });
  // @ts-expect-error A picture has a URL.
  await products.create({ name: 'Lamp', images: [{ alt: 'A lamp' }] });
  // @ts-expect-error A name is due.
  await products.create({ name: null });
  // @ts-expect-error A price has an amount.
  await products.create({ name: 'Lamp', price: { amount: null, currency: 'EUR' } });
  await products.edit(lamp.id, ({ sku, ...rest }) => ({ ...rest, description: sku ?? '' }));
  // @ts-expect-error A replacement has all required fields.
  await products.edit(lamp.id, () => ({ sku: 'L-2' }));
  await products.patch(lamp, { sku: null });
  // @ts-expect-error A name cannot be removed.
  await products.patch(lamp, { name: null });
  await products.patch(lamp, [{ op: 'test', path: '/name', value: 'Lamp' }]);

  const { created } = await products.put({ sku: 'L-1' }, { name: 'Lamp' }, { ifNoneMatch: '*' });
  created satisfies boolean;
  await users.put({ email: 'ann@example.com' }, { name: 'Ann' });
  await products.patch({ sku: 'L-1' }, { name: 'Torch' });
  await users.edit({ email: 'ann@example.com' }, (user) => ({ ...user, name: 'Anne' }));
  // @ts-expect-error A user is named by an email.
  await users.read({ sku: 'L-1' });
  // @ts-expect-error Orders have ids alone.
  await orders.delete({ id: 1 });
  // @ts-expect-error A PUT to a key could create.
  await products.replace({ sku: 'L-1' }, { name: 'Lamp' });
  // @ts-expect-error A name is due.
  await products.put({ sku: 'L-1' }, {});

  for await (const change of products.changes({ from: 'cursor' })) {
    change.version satisfies number;
    if (change.deleted) change satisfies { id: number; version: number };
    else change satisfies Product;
    // @ts-expect-error A deletion has no name.
    change.name;
  }
  for await (const change of products.changes({ fields: ['sku'] }))
    if (!change.deleted) {
      change satisfies { id: number; version: number; sku?: string };
      // @ts-expect-error The name was not requested.
      change.name;
    }
  // @ts-expect-error API keys have no changes.
  apiKeys.changes();

  products.import([{ name: 'Lamp' }], { dryRun: true });
  products.import(
    [
      { sku: 'L-1', price: null, version: 3 },
      { sku: 'L-2', deleted: true },
    ],
    { match: 'sku' },
  );
  orders.import([{ id: 7, userId: 1 }], { match: 'id', existing: 'merge' });
  // @ts-expect-error Each line names its record.
  products.import([{ name: 'Lamp' }], { match: 'sku' });
  // @ts-expect-error Users have no SKU.
  users.importFile('text/csv', '', { match: 'sku' });
  // @ts-expect-error A new record has a name.
  products.import([{ sku: 'L-1' }]);
  // @ts-expect-error To send it again is harmless, and needs no key.
  products.import([{ sku: 'L-1' }], { match: 'sku', idempotencyKey: 'x' });
  for await (const { status, id, version, unchanged, error } of products.import([], { dryRun: true }))
    [status, id, version, error?.code, unchanged] satisfies [
      number,
      number | undefined,
      number | undefined,
      string | undefined,
      boolean | undefined,
    ];

  const view = await products.read(lamp.id, { fields: ['updatedAt'] });
  view.data.updatedAt satisfies string;
  // @ts-expect-error A view has no ETag for a write.
  await products.delete(view);

  // @ts-expect-error Keys are never changed.
  await apiKeys.patch(1, { name: 'shop' });
  // @ts-expect-error There is no such scope.
  await apiKeys.create({ name: 'shop', scopes: ['products:all'] });

  const key = { baseUrl: 'https://localhost:8443', clientSecret: 'pcs_key' };
  clientCredentials({ ...key, clientId: '1' });
  clientCredentials({ ...key, clientId: 1 });

  // @ts-expect-error There is no such path.
  await GET('/v1/product');
  // @ts-expect-error A body is one record; `import` sends NDJSON.
  await POST('/v1/products', { body: '{"name":"Lamp"}' });
  const { data, error } = await POST('/v1/products', { body: { name: 'Lamp' } });
  return [data?.id.toFixed(), error?.code satisfies string | undefined];
}
