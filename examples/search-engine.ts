/**
 * Keeps an index of OpenSearch or Elasticsearch in step with the live products of the catalogue.
 * docs/how-to/search-engine.md describes it.
 */
import { createCatalogue, type ProductTypes, type RecordChange, ResyncNeeded } from 'product-catalogue-client';

const { CATALOGUE_URL = 'https://localhost:8443', API_KEY, SEARCH_AUTHORIZATION } = process.env;
const { SEARCH_URL = 'http://localhost:9200' } = process.env;
const ALIAS = 'catalogue-products';
const FIELDS = ['version', 'status', 'name', 'description', 'sku', 'tags', 'price'] as const;
const PROPERTIES = {
  name: { type: 'text' },
  description: { type: 'text' },
  sku: { type: 'keyword' },
  tags: { type: 'keyword' },
  price: { properties: { amount: { type: 'long' }, currency: { type: 'keyword' } } },
};

type Change = RecordChange<ProductTypes, (typeof FIELDS)[number]>;

const { products } = createCatalogue({ baseUrl: CATALOGUE_URL, token: API_KEY });

/** Sends lines of JSON to the search engine. */
async function send(method: string, path: string, ...lines: readonly object[]) {
  const authorization = SEARCH_AUTHORIZATION ? { Authorization: SEARCH_AUTHORIZATION } : {};
  const response = await fetch(`${SEARCH_URL}/${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...authorization },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join('') || null,
  }).catch(({ message, cause }: Error) => {
    process.stderr.write(`${SEARCH_URL} does not respond: ${cause instanceof Error ? cause.message : message}\n`);
    process.exit(1);
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

/** Writes what is newer than the index. Drafts, archived and deleted products leave it. */
async function write(index: string, changes: readonly Change[]) {
  const lines = changes.flatMap((change): object[] => {
    const target = { _id: `${change.id}`, version: change.version, version_type: 'external' };
    return change.deleted || change.status ? [{ delete: target }] : [{ index: target }, change];
  });
  if (lines.length === 0) return;
  const { items } = await send('POST', `${index}/_bulk`, ...lines);
  for (const item of items) {
    const { status, error } = item.index ?? item.delete;
    // 409: the index has this version or a newer one.
    if (error && status !== 409) throw new Error(JSON.stringify(error));
  }
}

/** Writes the whole list into a new index, which then takes the place of all others. */
async function rebuild() {
  const cursor = await products.changes({ fields: FIELDS }).start(); // Before the list, so that no change is missed.
  const index = `${ALIAS}-${Date.now()}`;
  const mappings = { dynamic: false, properties: PROPERTIES, _meta: { cursor } };
  await send('PUT', index, { mappings });
  for await (const { records } of products.pages({ limit: 1000, fields: ['id', ...FIELDS] }))
    await write(index, records);
  const others = Object.keys(await send('GET', `${ALIAS}-*/_alias`)).filter((name) => name !== index);
  const removals = others.map((name) => ({ remove_index: { index: name } }));
  await send('POST', '_aliases', { actions: [{ add: { index, alias: ALIAS } }, ...removals] });
  process.stdout.write(`${index} has all products\n`);
  return { index, cursor };
}

/** Returns the index that searches use, and the cursor that is stored in it. Undefined if there is none. */
async function find() {
  const found: Record<string, { mappings: { _meta?: { cursor?: string } } }> = await send(
    'GET',
    `${ALIAS}/_mapping?ignore_unavailable=true`,
  );
  for (const [index, { mappings }] of Object.entries(found))
    if (mappings._meta?.cursor) return { index, cursor: mappings._meta.cursor };
  return undefined;
}

for (let place = await find(); ; place = undefined)
  try {
    const { index, cursor: from } = place ?? (await rebuild());
    for await (const { changes, cursor } of products.changes({ from, fields: FIELDS }).pages()) {
      await write(index, changes);
      await send('PUT', `${index}/_mapping`, { _meta: { cursor } });
    }
  } catch (error) {
    if (!(error instanceof ResyncNeeded)) throw error;
    process.stdout.write('changes may be missing: all products are read again\n');
  }
