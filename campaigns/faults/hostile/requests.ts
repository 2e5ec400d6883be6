const MIB = 1_024 * 1_024;

/** A request that costs the service as much as possible. */
export interface HostileRequest {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Sent without a credential. */
  readonly isAnonymous?: boolean;
  /** The expected status. It shows that the request reached the code that it should load. */
  readonly status?: number;
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const JSON_BODY = { 'Content-Type': 'application/json' };
const MERGE_PATCH = { 'Content-Type': 'application/merge-patch+json' };
const JSON_PATCH = { 'Content-Type': 'application/json-patch+json' };

/** Bodies just below the limit of 1 MiB. */
export const BODIES: readonly HostileRequest[] = [
  post(413, '94,000 names', `{${repeated(94_000, (i) => `"n${i}":0`)}}`),
  post(413, '349,000 empty objects', `[${repeated(349_000, () => '{}')}]`),
  post(413, '520,000 numbers', `[${repeated(520_000, () => '1')}]`),
  post(413, 'integer-like names', `{${repeated(70_000, (i) => `"${i * 524_287}":0`)}}`),
  post(400, 'integer-like names below the limit of values', `{${repeated(4_999, (i) => `"${i * 524_287}":0`)}}`),
  post(400, 'names below the limit of values', `{${repeated(4_999, (i) => `"${'x'.repeat(190)}${i}":0`)}}`),
  post(
    400,
    'attributes below the limit of values',
    `{"name":"x","attributes":{${repeated(4_990, (i) => `"k${i}":""`)}}}`,
  ),
  post(400, 'one long text', `{"name":"${'x'.repeat(MIB - 20)}"}`),
  post(400, 'one long text of escapes', `{"name":"${'\\u00e9'.repeat(174_000)}"}`),
  post(400, 'one long name', `{"${'x'.repeat(MIB - 20)}":1}`),
  post(400, 'one long name of escapes', `{"${'\\u0001'.repeat(174_000)}":1}`),
  post(
    400,
    '680 names of control characters, as long as a pointer shows',
    `{${repeated(680, (i) => `"${1_000 + i}${'\\u0001'.repeat(252)}":1`)}}`,
  ),
  post(400, 'one long name of tildes', `{"${'~'.repeat(MIB - 20)}":1}`),
  post(
    400,
    'an attribute with a long name of tildes and a bad value',
    `{"name":"x","attributes":{"${'~'.repeat(MIB - 2_000)}\\u0001":"\\u0001${'v'.repeat(1_000)}"}}`,
  ),
  csv(400, 'a CSV column with a long name of tildes', `name,attributes.${'~'.repeat(MIB - 50)}\n`),
  csv(
    400,
    '999 CSV columns of control characters, as long as a pointer shows',
    `name,${repeated(999, (i) => `attributes.${1_000 + i}${'\u0001'.repeat(241)}`)}\n`,
  ),
  post(400, 'white space', `${' '.repeat(MIB - 20)}{"name":1}`),
  post(400, 'one long number', `{"name":${'1'.repeat(MIB - 20)}}`),
  post(400, 'one long number that a double rounds', `{"price":{"amount":1.${'0'.repeat(MIB - 40)}1}}`),
  post(
    400,
    'many numbers that a double rounds',
    `{"attributes":{"a":[${repeated(9_900, () => `1.${'0'.repeat(98)}1`)}]}}`,
  ),
  post(400, 'a fraction and white space', `{"price":1.5${' '.repeat(MIB - 40)}}`),
  post(400, 'quotation marks', `{"name":"${'\\"'.repeat(520_000)}"}`),
  post(
    201,
    'characters that normalising makes 18 of',
    `{"name":"${'\ufdfa'.repeat(200)}","description":"${'\ufdfa'.repeat(5_000)}","attributes":{${repeated(
      50,
      (i) => `"k${i}":"${'\ufdfa'.repeat(500)}"`,
    )}}}`,
  ),
  patch(200, 'a merge patch of nulls', MERGE_PATCH, `{${repeated(4_999, (i) => `"n${i}":null`)}}`),
  patch(400, 'a merge patch of attributes', MERGE_PATCH, `{"attributes":{${repeated(4_990, (i) => `"k${i}":"v"`)}}}`),
  patch(400, 'a pointer of 500,000 steps', JSON_PATCH, `[{"op":"remove","path":"${'/a'.repeat(500_000)}"}]`),
  patch(400, 'a pointer of 250,000 escapes', JSON_PATCH, `[{"op":"remove","path":"/${'~1'.repeat(250_000)}"}]`),
  patch(
    409,
    'a test at a pointer of 520,000 escapes',
    JSON_PATCH,
    `[{"op":"test","path":"/${'~0'.repeat(520_000)}","value":1}]`,
  ),
  patch(
    400,
    'a pointer of 100 long steps',
    JSON_PATCH,
    `[{"op":"remove","path":"${`/${'~1'.repeat(5_000)}`.repeat(100)}"}]`,
  ),
  patch(
    409,
    '1,000 operations',
    JSON_PATCH,
    `[${repeated(1_000, () => `{"op":"test","path":"/name","value":"${'x'.repeat(900)}"}`)}]`,
  ),
  patch(
    400,
    '1,000 long pointers',
    JSON_PATCH,
    `[${repeated(1_000, () => `{"op":"remove","path":"${'/a'.repeat(99)}${'~0'.repeat(390)}"}`)}]`,
  ),
  patch(400, 'copies that grow', JSON_PATCH, `[${repeated(1_000, (i) => `{"op":"copy","from":"","path":"/c${i}"}`)}]`),
  patch(400, '1,000 wrong operations', JSON_PATCH, `[${repeated(1_000, () => '{"op":1,"path":2}')}]`),
  post(
    413,
    'an order of 28,000 items',
    `{"userId":1,"items":[${repeated(28_000, (i) => `{"productId":${i},"quantity":1}`)}]}`,
    '/v1/orders',
  ),
  post(
    413,
    'an order of 2,400 items',
    `{"userId":1,"items":[${repeated(2_400, (i) => `{"productId":${i},"quantity":0}`)}]}`,
    '/v1/orders',
  ),
  post(400, 'a key of many scopes', `{"name":"x","scopes":[${repeated(9_900, (i) => `"s${i}"`)}]}`, '/v1/api-keys'),
];

export const FORMS: readonly HostileRequest[] = [
  form(413, 'a form of plus signs', `grant_type=client_credentials&client_id=1&client_secret=${'+'.repeat(MIB - 80)}`),
  form(413, 'a form of equals signs', `a${'='.repeat(MIB - 10)}`),
  form(413, 'a form of escapes', `client_secret=${'%41'.repeat(340_000)}`),
  form(401, 'a form of 16 KiB', `grant_type=client_credentials&client_id=1&client_secret=${'+'.repeat(16_300)}`),
];

/** As many attributes as a product may have. */
export const MANY_ATTRIBUTES = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 1]));

const BY_MANY_ATTRIBUTES = Object.keys(MANY_ATTRIBUTES)
  .map((key) => `attributes.${key}=1`)
  .join('&');

export const READS: readonly HostileRequest[] = [
  {
    name: 'the OpenAPI document, br',
    method: 'GET',
    path: '/openapi.json',
    headers: { 'Accept-Encoding': 'br' },
    isAnonymous: true,
  },
  { name: 'a page of 4 MiB', method: 'GET', path: '/v1/products?limit=1000', headers: {} },
  {
    name: 'a page of 4 MiB, br',
    method: 'GET',
    path: '/v1/products?limit=1000',
    headers: { 'Accept-Encoding': 'br' },
  },
  { name: 'an export', method: 'GET', path: '/v1/products', headers: { Accept: 'application/x-ndjson' } },
  { name: 'an unindexed query', method: 'GET', path: '/v1/products?images.exists=true', headers: {} },
  {
    name: '50 attributes of 100 products in another order',
    method: 'GET',
    path: `/v1/products?name=quoted&sort=-createdAt&limit=1000&${BY_MANY_ATTRIBUTES}`,
    headers: {},
  },
  {
    name: 'a count of 50 attributes',
    method: 'GET',
    path: `/v1/products?name=quoted&limit=1&${BY_MANY_ATTRIBUTES}`,
    headers: { Prefer: 'count=exact' },
  },
  {
    name: 'an export by 50 attributes',
    method: 'GET',
    path: `/v1/products?sort=-id&${BY_MANY_ATTRIBUTES}`,
    headers: { Accept: 'application/x-ndjson' },
  },
  {
    name: 'facets of all products, of 10 fields',
    method: 'GET',
    path: `/v1/products/facets?limit=100&fields=tags,brand,${repeated(8, (i) => `attributes[a${i}]`)}`,
    headers: {},
  },
  {
    name: 'facets under a filter on each of 10 fields',
    method: 'GET',
    path: `/v1/products/facets?fields=${repeated(10, (i) => `attributes[a${i}]`)}&${BY_MANY_ATTRIBUTES}`,
    headers: {},
  },
  {
    status: 400,
    name: 'facets of 4,000 fields',
    method: 'GET',
    path: `/v1/products/facets?fields=${'a,'.repeat(4_000)}`,
    headers: {},
  },
  { name: 'a count', method: 'GET', path: '/v1/products?limit=1', headers: { Prefer: 'count=exact' } },
  {
    name: '100 values of in',
    method: 'GET',
    path: `/v1/products?id.in=${repeated(100, (i) => String(i + 1))}&limit=1000`,
    headers: {},
  },
  search(
    200,
    'a search for 10 words of 64 characters',
    repeated(10, (i) => `${'x'.repeat(63)}${i}`),
  ),
  search(200, 'a search for one letter', 'p'),
  search(200, 'a search with 8,000 bytes of punctuation', `p${'.'.repeat(8_000)}`),
  search(400, 'a search for 2,000 words', 'a '.repeat(2_000)),
  search(400, 'a search for a word of 8,000 characters', 'a'.repeat(8_000)),
  search(400, 'a search for characters that normalising makes 18 of', '\ufdfa'.repeat(880)),
  search(400, 'a search for marks in the wrong order', `a${'\u0301\u0323'.repeat(550)}${'\u0915'.repeat(65)}`),
];

function search(status: number, name: string, words: string): HostileRequest {
  return { status, name, method: 'GET', path: `/v1/products?q=${encodeURIComponent(words)}`, headers: {} };
}

function post(status: number, name: string, body: string, path = '/v1/products'): HostileRequest {
  return { status, name, method: 'POST', path, headers: JSON_BODY, body };
}

function csv(status: number, name: string, body: string): HostileRequest {
  return { ...post(status, name, body, '/v1/products/imports'), headers: { 'Content-Type': 'text/csv' } };
}

function patch(status: number, name: string, headers: Readonly<Record<string, string>>, body: string): HostileRequest {
  return { status, name, method: 'PATCH', path: '/v1/products/1', headers, body };
}

function form(status: number, name: string, body: string): HostileRequest {
  return { status, name, method: 'POST', path: '/oauth/token', headers: FORM, body, isAnonymous: true };
}

function repeated(count: number, piece: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => piece(i)).join(',');
}
