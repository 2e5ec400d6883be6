import type { HttpClient, HttpResponse } from '../support/http-client.js';
import { jsonLines } from '../support/line-stream.js';
import { longText } from '../support/unicode-texts.js';

/** The identity of the service in its access tokens. */
export const PUBLIC_URL = 'https://catalogue.example';

/** The collections of the records, and their fields that no use of a record changes. */
const COLLECTIONS = {
  products:
    'id,name,description,sku,price,attributes,status,tags,images,url,brand,gtin,group,stock,version,createdAt,updatedAt',
  users: 'id,name,email,version,createdAt,updatedAt',
  orders: 'id,userId,items,version,createdAt,updatedAt',
  'api-keys': 'id,name,scopes,expiresAt,createdAt,createdBy',
  webhooks: 'id,name,url,resources,status,version,createdAt,createdBy',
} as const;

export type Collection = keyof typeof COLLECTIONS;

/** The collections whose records anybody with the scopes may edit. */
export const EDITABLE = ['products', 'users', 'orders'] as const;

export interface Item {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** A POST with an idempotency key, and its first response. */
export interface Creation {
  readonly path: string;
  /** The name of the API key. */
  readonly by: string;
  readonly idempotencyKey: string;
  readonly body: unknown;
  readonly status: number;
  readonly location: string | undefined;
  readonly etag: string | undefined;
  readonly response: string;
}

export interface Import {
  readonly idempotencyKey: string;
  readonly lines: string;
  readonly results: readonly Record<string, unknown>[];
}

/** What a data folder contains, in the words of the service that wrote it. */
export interface History {
  /** The time of the last request. */
  readonly madeAt: string;
  readonly records: Readonly<Record<(typeof EDITABLE)[number], readonly Item[]>> &
    Readonly<Partial<Record<Collection, readonly Item[]>>>;
  /** The ids of deleted records. */
  readonly deleted: Readonly<Record<(typeof EDITABLE)[number], readonly number[]>>;
  readonly creations: readonly Creation[];
  readonly import: Import;
}

/** The API keys by their names, which also say what becomes of them, and an access token. */
export const NAMES = {
  first: 'upgrade test, first key with all scopes',
  readOnly: 'upgrade test, readonly',
  orders: 'upgrade test, orders',
  revoked: 'upgrade test, revoked',
  expiring: 'upgrade test, expires after 30 days',
  command: 'upgrade test, made by the command',
  token: 'upgrade test, access token of 10 minutes',
} as const;

export type Keys = Readonly<Record<string, string>>;

/** Runs the command line of the release. @returns its standard output */
export type RunCommand = (...args: string[]) => Promise<string>;

const DAY_MS = 86_400_000;

/** Words that meet the rules of search: case, accents, ligatures, scripts without spaces, final sigma, wide digits. */
const THINGS = [
  ...['Lamp', 'Tischbeleuchtungskörper', 'Café-Crème', 'ﬁne Table', 'Straße', 'İstanbul ısı', 'x² + ½'],
  ...['ΟΔΟΣ ὁδός', 'Ёлка й', 'שָׁלוֹם', 'سَلام ٱلعالم', 'हिन्दी क़', 'กำลังใจ', '東京タワーの椅子', '㈱豈'],
  ...['ガラス ｶﾞﾗｽ', '한국어', '👨‍👩‍👧 family ❤️', '１２３ ٣', "O'Neill’s", 'dot.ted-and_joined'],
];
const COLOURS = ['red', 'grün', 'BLUE', '黒', 'белый', ''];
const STATUSES = ['live', 'draft', 'archived'];

/**
 * Makes the history of a data folder by the requests of its clients and by the command line: records with every field,
 * edited and deleted ones, creations and an import that can be repeated, API keys and an access token.
 * @param client has the first key
 */
export async function makeHistory(
  client: HttpClient,
  run: RunCommand,
): Promise<{ readonly history: History; readonly keys: Keys }> {
  const keys = await makeKeys(client, run);
  await run('seed', '--products', '60', '--seed', '7');
  const products = await createAll(client, 'products', 240, productOf);
  const users = await createAll(client, 'users', 60, userOf);
  const orders = await createAll(client, 'orders', 80, (at) => orderOf(at, products, users));
  const creations = await createOnce(client, keys, products[0] ?? 0, users[0] ?? 0);
  const imported = await importLines(client);
  await createAll(client, 'webhooks', 5, webhookOf);
  await edit(client, { products, users, orders });
  const [, editedOne, deletedOne] = creations;
  ok(await client.patch(`${editedOne?.location}`, { name: 'Edited after its creation' }));
  const gone = [...everyNth(products, 11), idOf(deletedOne)];
  const deleted = { products: gone, users: everyNth(users, 13), orders: everyNth(orders, 17) };
  for (const collection of EDITABLE)
    for (const id of deleted[collection]) ok(await client.delete(`/v1/${collection}/${id}`));
  const records = {
    products: await all(client, 'products'),
    users: await all(client, 'users'),
    orders: await all(client, 'orders'),
    'api-keys': await all(client, 'api-keys'),
    webhooks: await all(client, 'webhooks'),
  };
  const history = { madeAt: new Date().toISOString(), records, deleted, creations, import: imported };
  return { history, keys };
}

async function makeKeys(client: HttpClient, run: RunCommand): Promise<Keys> {
  const expiresAt = new Date(Date.now() + 30 * DAY_MS).toISOString();
  const made = async (name: string, scopes: string[], more: object = {}) =>
    ok(await client.post('/v1/api-keys', { name, scopes, ...more })).json as { id: number; key: string };
  const readOnly = await made(NAMES.readOnly, ['products:read']);
  const orders = await made(NAMES.orders, ['orders:read', 'orders:write']);
  const revoked = await made(NAMES.revoked, ['products:read', 'keys:admin']);
  const expiring = await made(NAMES.expiring, ['products:read'], { expiresAt });
  const scopes = 'products:read,products:write';
  const printed = await run('keys', 'create', '--name', NAMES.command, '--scopes', scopes);
  await run('keys', 'revoke', `${revoked.id}`);
  const form = `grant_type=client_credentials&client_id=${readOnly.id}&client_secret=${readOnly.key}`;
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const token = ok(await client.post('/oauth/token', form, { token: null, headers })).json;
  return {
    [NAMES.first]: client.token,
    [NAMES.readOnly]: readOnly.key,
    [NAMES.orders]: orders.key,
    [NAMES.revoked]: revoked.key,
    [NAMES.expiring]: expiring.key,
    [NAMES.command]: /pcs_\S+/.exec(printed)?.[0] ?? '',
    [NAMES.token]: token.access_token,
  };
}

function productOf(at: number): object {
  const thing = THINGS[at % THINGS.length] ?? '';
  return {
    name: `${thing} ${at}`,
    ...(at % 3 > 0 && { description: `${COLOURS[at % 5]} ${THINGS[(at * 7) % THINGS.length]}\n\tno. ${at}` }),
    ...(at % 4 > 0 && { sku: `U-${at}.x_${at % 2 ? 'a' : 'A'}` }),
    ...(at % 5 > 0 && { price: { amount: at * 37, currency: at % 2 ? 'EUR' : 'JPY' } }),
    ...(at % 2 > 0 && {
      attributes: {
        colour: COLOURS[at % COLOURS.length],
        'size.in:$cm': at / 8,
        isNew: at % 3 === 0,
        größe: THINGS[at % 7],
      },
    }),
    ...(at % 7 > 0 && {
      status: STATUSES[at % STATUSES.length],
      tags: [`things/${at % 9}`, COLOURS[at % 5]],
      brand: `Brand ${at % 6}`,
      group: `group-${at % 20}`,
      stock: at % 4 ? at : 0,
    }),
    ...(at % 8 === 0 && {
      gtin: '4006381333931',
      url: `https://shop.example/things/${at}`,
      images: [{ url: `https://shop.example/${at}.jpg`, alt: THINGS[at % THINGS.length] }],
    }),
    ...(at === 100 && tooManyWords()),
    ...(at === 101 && { description: 'very long words '.repeat(300) + 'z'.repeat(150) }),
    ...(at === 102 && { description: '', attributes: manyAttributes() }),
  };
}

/** Texts of more words than count. */
function tooManyWords(): object {
  const text = longText(9_000);
  const parts = Array.from({ length: 8 }, (_, part) => [
    `part ${part}`,
    text.slice(5_000 + part * 500, 5_500 + part * 500),
  ]);
  return { description: text.slice(0, 5_000), attributes: Object.fromEntries(parts) };
}

function manyAttributes(): object {
  return Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`attribute ${at}`, at % 2 ? at : `v${at}`]));
}

/** It is paused, so that no test sends a message. */
function webhookOf(at: number): object {
  const resources = [...EDITABLE].slice(0, 1 + (at % EDITABLE.length));
  return { name: `Index ${at}`, url: `https://192.0.2.7/hooks/${at}`, resources, status: 'paused' };
}

function userOf(at: number): object {
  return { name: `${THINGS[at % THINGS.length]} user ${at}`, email: `User.${at}@Example.com` };
}

function orderOf(at: number, products: readonly number[], users: readonly number[]): object {
  const productAt = (item: number) => products[(at * 3 + item) % products.length];
  const ordered = (_: unknown, item: number) => ({ productId: productAt(item), quantity: 1 + item * at });
  const items = Array.from({ length: 1 + (at % 4) }, ordered);
  return { userId: users[at % users.length], items };
}

async function createAll(
  client: HttpClient,
  collection: Collection,
  count: number,
  bodyOf: (at: number) => object,
): Promise<number[]> {
  const ids: number[] = [];
  for (let at = 0; at < count; at++) {
    const { json } = ok(await client.post(`/v1/${collection}`, bodyOf(at)));
    ids.push(json.id);
  }
  return ids;
}

/** Creates under idempotency keys; the second product is edited and the third one deleted afterwards. */
async function createOnce(client: HttpClient, keys: Keys, productId: number, userId: number): Promise<Creation[]> {
  const bodies: [by: string, path: string, body: object][] = [
    [NAMES.first, '/v1/products', { name: 'Created once, unchanged 東京', sku: 'ONCE-1' }],
    [NAMES.first, '/v1/products', { name: 'Created once, then edited', attributes: { a: 1 } }],
    [NAMES.first, '/v1/products', { name: 'Created once, then deleted', sku: 'ONCE-3' }],
    [NAMES.command, '/v1/products', { name: 'Created once by another key' }],
    [NAMES.first, '/v1/users', { name: 'Created once', email: 'once@example.com' }],
    [NAMES.orders, '/v1/orders', { userId, items: [{ productId, quantity: 3 }] }],
  ];
  const creations: Creation[] = [];
  for (const [at, [by, path, body]] of bodies.entries()) {
    const idempotencyKey = `upgrade-test-${at}`;
    const headers = { 'Idempotency-Key': idempotencyKey };
    const { status, headers: got, text } = ok(await client.post(path, body, { headers, token: keys[by] ?? '' }));
    const { location, etag } = got;
    creations.push({ path, by, idempotencyKey, body, status, location, etag, response: text });
  }
  return creations;
}

export async function postImport(client: HttpClient, { idempotencyKey, lines }: Omit<Import, 'results'>) {
  const headers = { 'Content-Type': 'application/x-ndjson', 'Idempotency-Key': idempotencyKey };
  return ok(await client.post('/v1/products/imports', lines, { headers }));
}

async function importLines(client: HttpClient): Promise<Import> {
  const records = Array.from({ length: 20 }, (_, at) => ({
    name: at === 7 ? '' : `Imported ${THINGS[at]}`,
    sku: `I-${at}`,
  }));
  const idempotencyKey = 'upgrade-test-import';
  const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const { text } = await postImport(client, { idempotencyKey, lines });
  return { idempotencyKey, lines, results: jsonLines(text) };
}

/** Gives records one to four further versions by each kind of edit. */
async function edit(
  client: HttpClient,
  { products, users, orders }: Readonly<Record<(typeof EDITABLE)[number], readonly number[]>>,
): Promise<void> {
  for (const [at, id] of everyNth(products, 3).entries()) {
    const path = `/v1/products/${id}`;
    ok(await client.patch(path, { name: `Edited ${THINGS[(at * 5) % THINGS.length]} ${at}`, sku: null }));
    if (at % 2) ok(await client.put(path, { name: `Replaced ${at}`, price: { amount: at, currency: 'USD' } }));
    if (at % 4 === 3) {
      const headers = { 'Content-Type': 'application/json-patch+json', 'If-Match': '"3"' };
      const operations = [{ op: 'add', path: '/attributes', value: { patched: THINGS[at % THINGS.length] } }];
      ok(await client.patch(path, operations, { headers }));
      ok(await client.patch(path, { description: `version 5 of ${at}` }));
    }
  }
  for (const id of everyNth(users, 4)) ok(await client.patch(`/v1/users/${id}`, { email: `Moved.${id}@Example.com` }));
  for (const id of everyNth(orders, 5)) {
    const operations = [{ op: 'replace', path: '/items/0/quantity', value: 9 }];
    const headers = { 'Content-Type': 'application/json-patch+json' };
    ok(await client.patch(`/v1/orders/${id}`, operations, { headers }));
  }
}

/** Returns the records of a collection as an export shows them. */
export async function all(
  client: HttpClient,
  collection: Collection,
  fields: string = COLLECTIONS[collection],
): Promise<Item[]> {
  const headers = { Accept: 'application/x-ndjson' };
  return jsonLines(ok(await client.get(`/v1/${collection}?fields=${fields}`, { headers })).text);
}

function everyNth(ids: readonly number[], n: number): number[] {
  return ids.filter((_, at) => at % n === n - 1);
}

function idOf(creation: Creation | undefined): number {
  return Number(creation?.location?.split('/').at(-1));
}

function ok(response: HttpResponse): HttpResponse {
  if (response.status >= 300) throw new Error(`${response.status}: ${response.text}`);
  return response;
}
