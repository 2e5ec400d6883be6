const MIB = 1_024 * 1_024;

/** A request that is made to cost the service as much as it can. */
export interface HostileRequest {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Sent without a credential. */
  readonly isAnonymous?: boolean;
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const JSON_BODY = { 'Content-Type': 'application/json' };
const MERGE_PATCH = { 'Content-Type': 'application/merge-patch+json' };
const JSON_PATCH = { 'Content-Type': 'application/json-patch+json' };

/** Bodies just below the limit of 1 MiB. */
export const BODIES: readonly HostileRequest[] = [
  post('94,000 names', `{${repeated(94_000, (i) => `"n${i}":0`)}}`),
  post('350,000 empty objects', `[${repeated(349_000, () => '{}')}]`),
  post('500,000 numbers', `[${repeated(520_000, () => '1')}]`),
  post('integer-like names', `{${repeated(70_000, (i) => `"${i * 524_287}":0`)}}`),
  post('integer-like names below the limit of values', `{${repeated(4_999, (i) => `"${i * 524_287}":0`)}}`),
  post('names below the limit of values', `{${repeated(4_999, (i) => `"${'x'.repeat(190)}${i}":0`)}}`),
  post(
    'attributes below the limit of values',
    `{"name":"x","attributes":{${repeated(4_990, (i) => `"k${i}":""`)}}}`,
  ),
  post('one long text', `{"name":"${'x'.repeat(MIB - 20)}"}`),
  post('one long text of escapes', `{"name":"${'\\u00e9'.repeat(174_000)}"}`),
  post('one long name', `{"${'x'.repeat(MIB - 20)}":1}`),
  post('one long name of escapes', `{"${'\\u0001'.repeat(174_000)}":1}`),
  post('white space', `${' '.repeat(MIB - 20)}{"name":1}`),
  post('one long number', `{"name":${'1'.repeat(MIB - 20)}}`),
  post('quotation marks', `{"name":"${'\\"'.repeat(520_000)}"}`),
  patch('a merge patch of nulls', MERGE_PATCH, `{${repeated(4_999, (i) => `"n${i}":null`)}}`),
  patch(
    'a merge patch of attributes',
    MERGE_PATCH,
    `{"attributes":{${repeated(4_990, (i) => `"k${i}":"v"`)}}}`,
  ),
  patch('a pointer of 500,000 steps', JSON_PATCH, `[{"op":"remove","path":"${'/a'.repeat(500_000)}"}]`),
  patch('a pointer of 250,000 escapes', JSON_PATCH, `[{"op":"remove","path":"/${'~1'.repeat(250_000)}"}]`),
  patch(
    'a pointer of 100 long steps',
    JSON_PATCH,
    `[{"op":"remove","path":"${`/${'~1'.repeat(5_000)}`.repeat(100)}"}]`,
  ),
  patch(
    '1,000 operations',
    JSON_PATCH,
    `[${repeated(1_000, () => `{"op":"test","path":"/name","value":"${'x'.repeat(900)}"}`)}]`,
  ),
  patch(
    '1,000 long pointers',
    JSON_PATCH,
    `[${repeated(1_000, () => `{"op":"remove","path":"${'/a'.repeat(99)}${'~0'.repeat(390)}"}`)}]`,
  ),
  patch(
    'copies that grow',
    JSON_PATCH,
    `[${repeated(1_000, (i) => `{"op":"copy","from":"","path":"/c${i}"}`)}]`,
  ),
  patch('1,000 wrong operations', JSON_PATCH, `[${repeated(1_000, () => '{"op":1,"path":2}')}]`),
  post(
    'an order of 100,000 items',
    `{"userId":1,"items":[${repeated(28_000, (i) => `{"productId":${i},"quantity":1}`)}]}`,
    '/v1/orders',
  ),
  post(
    'an order of 2,400 items',
    `{"userId":1,"items":[${repeated(2_400, (i) => `{"productId":${i},"quantity":0}`)}]}`,
    '/v1/orders',
  ),
  post(
    'a key of many scopes',
    `{"name":"x","scopes":[${repeated(9_900, (i) => `"s${i}"`)}]}`,
    '/v1/api-keys',
  ),
];

export const FORMS: readonly HostileRequest[] = [
  form(
    'a form of plus signs',
    `grant_type=client_credentials&client_id=1&client_secret=${'+'.repeat(MIB - 80)}`,
  ),
  form('a form of equals signs', `a${'='.repeat(MIB - 10)}`),
  form('a form of escapes', `client_secret=${'%41'.repeat(340_000)}`),
  form('a form of 16 KiB', `grant_type=client_credentials&client_id=1&client_secret=${'+'.repeat(16_300)}`),
];

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
  { name: 'an unindexed query', method: 'GET', path: '/v1/products?attributes.none=x', headers: {} },
  { name: 'a count', method: 'GET', path: '/v1/products?limit=1', headers: { Prefer: 'count=exact' } },
  {
    name: '100 values of in',
    method: 'GET',
    path: `/v1/products?id:in=${repeated(100, (i) => String(i + 1))}&limit=1000`,
    headers: {},
  },
];

function post(name: string, body: string, path = '/v1/products'): HostileRequest {
  return { name, method: 'POST', path, headers: JSON_BODY, body };
}

function patch(name: string, headers: Readonly<Record<string, string>>, body: string): HostileRequest {
  return { name, method: 'PATCH', path: '/v1/products/1', headers, body };
}

function form(name: string, body: string): HostileRequest {
  return { name, method: 'POST', path: '/oauth/token', headers: FORM, body, isAnonymous: true };
}

function repeated(count: number, piece: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => piece(i)).join(',');
}
