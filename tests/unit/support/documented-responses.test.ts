import { expect } from 'chai';
import { documentedResponses } from '../../support/openapi/described.js';
import type { AnyResponse, DocumentedResponses } from '../../support/openapi/documented-responses.js';

const CARRIED = {
  'x-request-id': 'x',
  'api-version': '1',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': 'x',
  'referrer-policy': 'x',
  'cross-origin-resource-policy': 'x',
  'content-type': 'application/json',
};
const LAMP = { id: 1, name: 'Lamp' };
const NOT_FOUND = { code: 'not_found', message: 'x', details: [] };

interface Shown {
  readonly status?: number;
  readonly headers?: Record<string, string | undefined>;
  readonly body?: unknown;
}

function response({ status = 200, headers = {}, body = LAMP }: Shown): AnyResponse {
  const all = Object.entries({ ...CARRIED, etag: '"1"', ...headers }).filter(
    ([, value]) => value !== undefined,
  );
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { status, headers: Object.fromEntries(all), bytes };
}

type Case = [method: string, target: string, shown: Shown, issue?: string];

const ITEM = ['GET', '/v1/products/1'] as const;
const LIST = ['GET', '/products?limit=1'] as const;
const LINES = { 'content-type': 'application/x-ndjson', etag: undefined };

const CASES: Readonly<Record<string, Case>> = {
  'what is documented': [...ITEM, {}],
  'a status that is not': [...ITEM, { status: 202 }, 'the status 202'],
  'a status of another operation': ['DELETE', '/v1/products/1', {}, 'the status 200'],
  'a header that is not': [...ITEM, { headers: { 'x-powered-by': 'x' } }, 'the header x-powered-by'],
  'a header of another answer': [...ITEM, { headers: { location: '/' } }, 'the header location'],
  'a header without its form': [...ITEM, { headers: { etag: '1' } }, 'the header ETag: '],
  'another version': [...ITEM, { headers: { 'api-version': '2' } }, 'the header API-Version: '],
  'no header where one is due': [...ITEM, { headers: { etag: undefined } }, 'no header etag'],
  'a body of another type': [
    ...ITEM,
    { headers: { 'content-type': 'text/html' } },
    'a body of the type text/html',
  ],
  'a field that is not': [...ITEM, { body: { ...LAMP, stock: 1 } }, '"additionalProperty":"stock"'],
  'a field that is missing': [...ITEM, { body: { id: 1 } }, "must have required property 'name'"],
  'some fields, as asked': ['GET', '/v1/products/1?fields=id', { body: { id: 1 } }],
  'metadata, not asked for': [...ITEM, { body: { ...LAMP, version: 1 } }, '"additionalProperty":"version"'],
  'a list': [...LIST, { body: [LAMP], headers: { etag: 'W/"x"' } }],
  'an element that is not one': [...LIST, { body: [LAMP, {}] }, "must have required property 'name'"],
  'a list that is none': [...LIST, { body: { items: [] } }, 'must be array'],
  lines: [...LIST, { body: `${JSON.stringify(LAMP)}\n`, headers: LINES }],
  'a line that is none': [
    ...LIST,
    { body: `${JSON.stringify(LAMP)}\n{}\n`, headers: LINES },
    'must have required',
  ],
  'an error': [...ITEM, { status: 404, body: NOT_FOUND, headers: { etag: undefined } }],
  'an error of another status': [
    ...ITEM,
    { status: 404, body: { ...NOT_FOUND, code: 'rate_limited' } },
    'allowed',
  ],
  'an error that says more': [...ITEM, { status: 404, body: { ...NOT_FOUND, stack: 'x' } }, '"stack"'],
  'an error as a problem, which it is not': [
    ...ITEM,
    { status: 404, body: NOT_FOUND, headers: { 'content-type': 'application/problem+json' } },
    "must have required property 'type'",
  ],
  'nothing at an address that is not there': ['GET', '/nothing', { status: 404, body: NOT_FOUND }],
  'something at an address that is not there': ['GET', '/nothing', { body: 'x' }, ''],
  'another error at an address that is not there': [
    'GET',
    '/nothing',
    { status: 409, body: { ...NOT_FOUND, code: 'duplicate_value' } },
    'the code duplicate_value',
  ],
  'a method that is not there': [
    'PURGE',
    '/products',
    { status: 405, body: { ...NOT_FOUND, code: 'method_not_allowed' } },
  ],
  'a method that is not there, done': ['PURGE', '/products', { status: 204, body: '' }, 'the status 204'],
};

describe('an answer of which little is known', () => {
  const any = (shown: Shown) => () =>
    documentedResponses({}).checkAnywhere(response({ body: NOT_FOUND, ...shown }));

  it('passes with headers and errors that there are', () => {
    any({ status: 404 })();
    any({ status: 204 })();
  });

  it('is refused with others', () => {
    expect(any({ status: 204, headers: { server: 'x' } })).to.throw('the header server');
    expect(any({ status: 404, body: { ...NOT_FOUND, stack: 'x' } })).to.throw('"stack"');
    expect(any({ status: 400 })).to.throw('the code not_found with the status 400');
  });

  it('is judged by its head before its body is there', () => {
    const { headers } = response({ headers: LINES });
    const head = (status: number) => () =>
      documentedResponses({}).checkHead('POST', '/products', { status, headers });
    head(200)();
    expect(head(202)).to.throw('the status 202');
  });
});

describe('an answer', () => {
  let documented: DocumentedResponses;
  before(() => {
    documented = documentedResponses({});
  });

  for (const [name, [method, target, shown, issue]] of Object.entries(CASES)) {
    it(`${issue === undefined ? 'passes' : 'is refused'}: ${name}`, () => {
      const check = () => documented.check(method, target, response(shown));
      if (issue === undefined) check();
      else expect(check).to.throw(issue);
    });
  }
});
