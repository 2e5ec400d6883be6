import { expect } from 'chai';
import { documentedResponses } from '../../support/openapi/described.js';
import type { AnyResponse, DocumentedResponses } from '../../support/openapi/documented-responses.js';

const COMMON_HEADERS = {
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

interface ResponseParts {
  readonly status?: number;
  readonly headers?: Record<string, string | undefined>;
  readonly body?: unknown;
}

function response({ status = 200, headers = {}, body = LAMP }: ResponseParts): AnyResponse {
  const all = Object.entries({ ...COMMON_HEADERS, etag: '"1"', ...headers }).filter(([, value]) => value !== undefined);
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { status, headers: Object.fromEntries(all), bytes };
}

type Case = [method: string, target: string, parts: ResponseParts, issue?: string];

const PATH = '/v1/products/1';
const ITEM = ['GET', PATH] as const;
const LIST = ['GET', '/products?limit=1'] as const;
const MINIMAL = { 'preference-applied': 'return=minimal' };
const NO_TAG = { etag: undefined };
const NDJSON_HEADERS = { 'content-type': 'application/x-ndjson', ...NO_TAG };
const LAMP_LINE = `${JSON.stringify(LAMP)}\n`;
const LIST_TAG = { etag: 'W/"x"' };
const NO_NAME = "must have required property 'name'";

/** A response that is an error. */
const error = (status: number, code: string, headers: ResponseParts['headers'] = NO_TAG) => ({
  status,
  body: { ...NOT_FOUND, code },
  headers,
});
const empty = (headers: ResponseParts['headers'] = {}) => ({ status: 204, body: '', headers });

const CASES: Readonly<Record<string, Case>> = {
  'a documented response': [...ITEM, {}],
  'an undocumented status': [...ITEM, { status: 202 }, 'the status 202'],
  'a status of another operation': ['DELETE', PATH, {}, 'the status 200'],
  'an undocumented header': [...ITEM, { headers: { 'x-powered-by': 'x' } }, 'the header x-powered-by'],
  'a header of another response': [...ITEM, { headers: { location: '/' } }, 'the header location'],
  'a malformed header': [...ITEM, { headers: { etag: '1' } }, 'the header etag: '],
  'another version': [...ITEM, { headers: { 'api-version': '2' } }, 'the header API-Version: it is not 1'],
  'a missing header': [...ITEM, { headers: NO_TAG }, 'no header etag'],
  'a body of another type': [...ITEM, { headers: { 'content-type': 'text/html' } }, 'a body of the type text/html'],
  'an undocumented field': [...ITEM, { body: { ...LAMP, colour: 1 } }, '"additionalProperty":"colour"'],
  'a missing field': [...ITEM, { body: { id: 1 } }, NO_NAME],
  'the requested fields only': ['GET', `${PATH}?fields=id`, { body: { id: 1 } }],
  'fewer fields than the document demands': ['GET', `${LIST[1]}&fields=id`, { body: [{ id: 1 }], headers: LIST_TAG }],
  'a requested field that is missing': ['GET', `${PATH}?fields=id,name`, { body: { id: 1 } }, NO_NAME],
  'a missing field of an object inside': [
    'GET',
    `${PATH}?fields=id,price`,
    { body: { id: 1, price: { amount: 1 } } },
    "must have required property 'currency'",
  ],
  'a response to HEAD with the headers of GET': ['HEAD', PATH, { body: '' }],
  'a response to HEAD without a header of GET': ['HEAD', PATH, { body: '', headers: NO_TAG }, 'no header etag'],
  'the methods of a path': ['OPTIONS', PATH, empty({ ...NO_TAG, allow: 'GET', 'accept-patch': 'x' })],
  'another success of OPTIONS': ['OPTIONS', PATH, { headers: NO_TAG }, 'the status 200'],
  'a list': [...LIST, { body: [LAMP], headers: LIST_TAG }],
  'a list with an invalid element': [...LIST, { body: [LAMP, {}] }, NO_NAME],
  'an object instead of a list': [...LIST, { body: { items: [] } }, 'must be array'],
  'NDJSON lines': [...LIST, { body: LAMP_LINE, headers: NDJSON_HEADERS }],
  'NDJSON with an invalid line': [...LIST, { body: `${LAMP_LINE}{}\n`, headers: NDJSON_HEADERS }, 'must have required'],
  'an error': [...ITEM, error(404, 'not_found')],
  'an error of another status': [...ITEM, error(404, 'rate_limited', {}), 'the code rate_limited with the status 404'],
  'an error that the operation does not have': [
    ...ITEM,
    error(400, 'malformed_json', {}),
    'the code malformed_json with the status 400',
  ],
  'an error of every operation': [...ITEM, error(408, 'request_timeout')],
  'an error with an undocumented field': [...ITEM, { status: 404, body: { ...NOT_FOUND, stack: 'x' } }, '"stack"'],
  'a plain error with the type of a problem': [
    ...ITEM,
    error(404, 'not_found', { 'content-type': 'application/problem+json' }),
    'the member type of a problem',
  ],
  'no body under return=minimal': ['PUT', PATH, empty({ ...MINIMAL, 'content-type': undefined })],
  'a body under return=minimal': [
    'POST',
    '/v1/products',
    { status: 201, headers: { ...MINIMAL, location: PATH } },
    'a body under return=minimal',
  ],
  'a status of return=minimal without it': ['PUT', PATH, empty(), 'the status 204'],
  'return=minimal where nothing is written': [...ITEM, { headers: MINIMAL }, 'the header preference-applied'],
  'not found for an unknown path': ['GET', '/nothing', error(404, 'not_found')],
  'a success for an unknown path': ['GET', '/nothing', { body: 'x' }, ''],
  'another error for an unknown path': [
    'GET',
    '/nothing',
    error(409, 'duplicate_value', {}),
    'the code duplicate_value',
  ],
  'an unknown method': ['PURGE', '/products', error(405, 'method_not_allowed', { ...NO_TAG, allow: 'GET' })],
  'a success for an unknown method': ['PURGE', '/products', empty(), 'the status 204'],
};

describe('a response to an undocumented request', () => {
  const any = (parts: ResponseParts) => () =>
    documentedResponses({}).checkAnywhere(response({ body: NOT_FOUND, ...parts }));

  it('passes with documented headers and errors', () => {
    any({ status: 404 })();
    any({ status: 204 })();
  });

  it('is rejected with undocumented headers or errors', () => {
    expect(any({ status: 204, headers: { server: 'x' } })).to.throw('the header server');
    expect(any({ status: 404, body: { ...NOT_FOUND, stack: 'x' } })).to.throw('"stack"');
    expect(any({ status: 400 })).to.throw('the code not_found with the status 400');
  });

  it('is validated by its head before its body has arrived', () => {
    const { headers } = response({ headers: NDJSON_HEADERS });
    const head = (status: number) => () =>
      documentedResponses({}).checkHead('POST', '/products/imports', { status, headers });
    head(200)();
    expect(head(202)).to.throw('the status 202');
  });
});

describe('a response', () => {
  let documented: DocumentedResponses;
  before(() => (documented = documentedResponses({})));

  for (const [name, [method, target, parts, issue]] of Object.entries(CASES))
    it(`${issue === undefined ? 'passes' : 'is rejected'}: ${name}`, () => {
      const check = () => documented.check(method, target, response(parts));
      if (issue === undefined) check();
      else expect(check).to.throw(issue);
    });
});
