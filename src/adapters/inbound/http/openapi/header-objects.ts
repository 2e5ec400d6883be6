import { REQUEST_ID } from '../middleware/request-id.js';
import { KEY_PATTERN, MAX_KEY_LENGTH } from '../query/idempotency-key.js';
import { TAG_LIST_PATTERN } from '../response/etag.js';
import type { Components, Reference } from './components.js';
import type { JsonSchema } from './json-schema.js';

interface HeaderDescription {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

const TEXT: JsonSchema = { type: 'string' };
const TAGS: JsonSchema = { type: 'string', pattern: TAG_LIST_PATTERN };

/** The request headers, except those that OpenAPI describes elsewhere: media types and credentials. */
const REQUEST_HEADERS = {
  ApiVersion: {
    name: 'API-Version',
    description:
      'The version of the API, for an address that names none. Without this header it is 1, and always will be. A version other than the one in the address is refused.',
    schema: TEXT,
  },
  RequestId: {
    name: 'X-Request-Id',
    description:
      'An identifier for the request, of up to 128 characters from `A-Z a-z 0-9 . _ ~ : / + = @ -`. It is returned in the response and written to the log. Any other value is replaced by a generated one.',
    schema: TEXT,
    example: 'order-4711',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    description: `Makes the request safe to repeat: it is carried out once, however often it is sent, and each repetition gets the first response again. The client chooses the key, for instance a UUID: 1 to ${MAX_KEY_LENGTH} printable ASCII characters. Keys are kept for at least 24 hours.`,
    schema: { type: 'string', minLength: 1, maxLength: MAX_KEY_LENGTH, pattern: KEY_PATTERN },
    example: '6f1c1d2e-5a49-4f1e-9a3c-2f3c8e6c7b10',
  },
  IfMatch: {
    name: 'If-Match',
    description:
      'Carries out the request only if the current `ETag` of the record is among these (RFC 9110 section 13.1.1). Otherwise the response is 412, with the current `ETag`.',
    schema: TAGS,
    example: '"3"',
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    description:
      'Carries out the request only if the current `ETag` of the record is not among these (RFC 9110 section 13.1.2).',
    schema: TAGS,
    example: '"3"',
  },
  KnownTags: {
    name: 'If-None-Match',
    description:
      'The `ETag` of each copy that the client already has. If one of them is current, the response is 304.',
    schema: TEXT,
    example: '"3"',
  },
  PreferMinimal: {
    name: 'Prefer',
    description: '`return=minimal` asks for a response without a body (RFC 7240 section 4.2).',
    schema: TEXT,
    example: 'return=minimal',
  },
  PreferCount: {
    name: 'Prefer',
    description: '`count=exact` asks for the number of matching records, in `X-Total-Count`.',
    schema: TEXT,
    example: 'count=exact',
  },
  AcceptEncoding: {
    name: 'Accept-Encoding',
    description: 'The compression that the client accepts. The service knows `gzip` and `br`.',
    schema: TEXT,
    example: 'gzip, br',
  },
  Origin: {
    name: 'Origin',
    description: 'The origin of the script that sends the request. Set by browsers.',
    schema: TEXT,
  },
  RequestedMethod: {
    name: 'Access-Control-Request-Method',
    description: 'In a preflight request, the method that the script is about to use. Set by browsers.',
    schema: TEXT,
    example: 'PATCH',
  },
} satisfies Record<string, HeaderDescription & { readonly name: string }>;

export type RequestHeader = keyof typeof REQUEST_HEADERS;

const ENCODED = 'How the body is compressed, if it is: `gzip` or `br`.';
const INTEGER: JsonSchema = { type: 'integer', minimum: 0 };
const YES: JsonSchema = { type: 'string', enum: ['true'] };

/** The response headers, except those that OpenAPI describes elsewhere and those of HTTP's transport. */
const RESPONSE_HEADERS = {
  'X-Request-Id': {
    required: true,
    description: 'Identifies the request. Quote it when you report a problem.',
    schema: { type: 'string', pattern: REQUEST_ID.source },
  },
  'API-Version': {
    required: true,
    description: 'The version of the API that answered.',
    schema: TEXT,
  },
  'Cache-Control': {
    required: true,
    description: 'Whether and how the response may be cached (RFC 9111).',
    schema: TEXT,
  },
  Vary: { description: 'The request headers that the response depends on.', schema: TEXT },
  'RateLimit-Policy': {
    description:
      'The rate limit that applies: `q` requests in `w` seconds. `"default"` counts the requests of one client, known by its credential or else by its IP address; `"auth"` counts the failed authentications of one IP address.',
    schema: { type: 'string', pattern: '^"(default|auth)";q=\\d+;w=\\d+$' },
    example: '"default";q=600;w=60',
  },
  RateLimit: {
    description: 'What is left of the rate limit: `r` requests for the next `t` seconds.',
    schema: { type: 'string', pattern: '^"(default|auth)";r=\\d+;t=\\d+$' },
    example: '"default";r=599;t=60',
  },
  'Retry-After': {
    required: true,
    description: 'How many seconds to wait before trying again.',
    schema: INTEGER,
    example: 1,
  },
  'WWW-Authenticate': {
    description:
      'Which credentials are accepted, and why those that were sent are not (RFC 6750 section 3, RFC 9728 section 5.1).',
    schema: TEXT,
  },
  Allow: { required: true, description: 'The methods that this address supports.', schema: TEXT },
  'Accept-Patch': { description: 'The media types that PATCH accepts (RFC 5789 section 3.1).', schema: TEXT },
  ETag: {
    required: true,
    description:
      'Identifies what the response shows. The tag of a whole record is strong and can be sent in `If-Match`; the tag of a list or a document is weak.',
    schema: { type: 'string', pattern: '^(W/)?"[^"]*"$' },
    example: '"3"',
  },
  Location: {
    required: true,
    description: 'The address of the new record.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  Link: {
    description:
      'The addresses of other pages of a list (RFC 8288): `rel="next"`, `"prev"` and `"first"`. The last page has no `next`. In a deprecated version, `rel="successor-version"` is the same address in the next version.',
    schema: TEXT,
    example: '</v1/products?limit=100>; rel="first", </v1/products?limit=100&cursor=…>; rel="next"',
  },
  Deprecation: {
    required: true,
    description: 'When this version was or will be deprecated (RFC 9745): `@` and a Unix time in seconds.',
    schema: { type: 'string', pattern: '^@-?\\d+$' },
    example: '@1788220800',
  },
  Sunset: {
    required: true,
    description: 'When this version may be removed (RFC 8594), at least 12 months after its deprecation.',
    schema: TEXT,
    example: 'Wed, 01 Sep 2027 00:00:00 GMT',
  },
  'X-Total-Count': {
    description: 'The number of matching records. Sent only if the request has `Prefer: count=exact`.',
    schema: INTEGER,
  },
  'Preference-Applied': {
    description: 'The preferences that were honoured (RFC 7240 section 3).',
    schema: TEXT,
  },
  'Idempotency-Replayed': {
    description: 'Sent if this repeats the response to an earlier request with the same `Idempotency-Key`.',
    schema: YES,
  },
  'Content-Encoding': { description: ENCODED, schema: { type: 'string', enum: ['gzip', 'br'] } },
  Pragma: { description: 'The same as `Cache-Control`, for HTTP/1.0 caches.', schema: TEXT },
  'X-Content-Type-Options': {
    required: true,
    description: 'Tells browsers not to guess another media type.',
    schema: TEXT,
  },
  'Content-Security-Policy': {
    required: true,
    description: 'What the response may load and run if a browser opens it as a page.',
    schema: TEXT,
  },
  'Referrer-Policy': {
    required: true,
    description: 'Tells browsers not to pass the address on to other sites.',
    schema: TEXT,
  },
  'Cross-Origin-Resource-Policy': {
    required: true,
    description: 'Whether pages of other origins may embed the response.',
    schema: TEXT,
  },
  'Strict-Transport-Security': {
    required: true,
    description: 'Tells browsers to use HTTPS only.',
    schema: TEXT,
  },
  'Access-Control-Allow-Origin': {
    description: 'The origin whose scripts may read the response.',
    schema: TEXT,
  },
  'Access-Control-Expose-Headers': {
    description: 'The response headers that those scripts may read.',
    schema: TEXT,
  },
  'Access-Control-Allow-Methods': {
    description: 'The methods that those scripts may use here.',
    schema: TEXT,
  },
  'Access-Control-Allow-Headers': {
    description: 'The request headers that those scripts may send.',
    schema: TEXT,
  },
  'Access-Control-Max-Age': {
    description: 'For how many seconds a browser may keep the result of the preflight request.',
    schema: INTEGER,
  },
} satisfies Record<string, HeaderDescription & { readonly required?: true }>;

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** The Parameter and Header Objects of one API version. Each is in the document once. */
export class HeaderObjects {
  constructor(
    private readonly components: Components,
    private readonly version: number,
  ) {}

  request(names: readonly RequestHeader[]): object[] {
    return names.map((name) => {
      const header = { ...REQUEST_HEADERS[name], in: 'header' };
      if (name !== 'ApiVersion') return this.components.share('parameters', name, header);
      const version = String(this.version);
      const schema = { ...header.schema, enum: [version] };
      return this.components.share('parameters', `${name}${this.version}`, {
        ...header,
        schema,
        example: version,
      });
    });
  }

  requiredRequest(names: readonly RequestHeader[]): object[] {
    return names.map((name) => ({ ...REQUEST_HEADERS[name], in: 'header', required: true }));
  }

  response(names: readonly ResponseHeader[]): Record<string, object> {
    return Object.fromEntries(names.map((name) => [name, this.responseHeader(name)]));
  }

  optionalResponse(names: readonly ResponseHeader[]): Record<string, object> {
    return Object.fromEntries(names.map((name) => [name, { ...RESPONSE_HEADERS[name], required: false }]));
  }

  private responseHeader(name: ResponseHeader): Reference {
    if (name !== 'API-Version') return this.components.share('headers', name, RESPONSE_HEADERS[name]);
    const schema = { ...RESPONSE_HEADERS[name].schema, enum: [String(this.version)] };
    const header = { ...RESPONSE_HEADERS[name], schema };
    return this.components.share('headers', `${name}-${this.version}`, header);
  }
}
