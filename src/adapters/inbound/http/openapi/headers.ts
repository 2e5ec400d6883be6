import { TAG_LIST_PATTERN } from '../core/etag.js';
import { type JsonSchema, TEXT } from '../core/json-schema.js';
import { REQUEST_ID } from '../middleware/response-headers.js';
import { KEY_PATTERN, MAX_KEY_LENGTH } from '../parameters/request-headers.js';
import type { Components, Reference } from './components.js';

interface HeaderDescription {
  readonly required?: true;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

const TAGS: JsonSchema = { type: 'string', pattern: TAG_LIST_PATTERN };

/**
 * The request headers of operations. OpenAPI describes media types and credentials elsewhere; the introduction of the
 * document describes the headers that every operation takes.
 */
const REQUEST_HEADERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    description: `Makes the request safe to repeat: it is carried out once, however often it is sent, and each repetition gets the first response again. The client chooses the key, for instance a UUID: 1 to ${MAX_KEY_LENGTH} printable ASCII characters. Keys are kept for at least 24 hours.`,
    schema: { type: 'string', minLength: 1, maxLength: MAX_KEY_LENGTH, pattern: KEY_PATTERN },
    example: '6f1c1d2e-5a49-4f1e-9a3c-2f3c8e6c7b10',
  },
  IfMatch: {
    name: 'If-Match',
    description:
      'Carries out the request only if the current `ETag` of the record is among these, such as `"3"` (RFC 9110 section 13.1.1), also if a proxy that compresses has put `W/` before it or a coding behind it (`"3-gzip"`). Otherwise the response is 412, with the current `ETag`. `*` stands for every one.',
    schema: TAGS,
    example: '*',
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    description:
      'Carries out the request only if the current `ETag` of the record is not among these, such as `"3"` (RFC 9110 section 13.1.2).',
    schema: TAGS,
    // No record has it, so that a tool which sends every example succeeds.
    example: '"0"',
  },
  KnownTags: {
    name: 'If-None-Match',
    description: 'The `ETag` of each copy that the client already has. If one of them is current, the response is 304.',
    schema: TEXT,
    example: '"3"',
  },
  PreferCount: {
    name: 'Prefer',
    description: '`count=exact` asks for the number of matching records, in `X-Total-Count`.',
    schema: TEXT,
    example: 'count=exact',
  },
  PreferWait: {
    name: 'Prefer',
    description:
      '`wait=N` asks for the response at the first change, or after N seconds if there is none (RFC 7240 section 4.3). More than 30 counts as 30.',
    schema: TEXT,
    example: 'wait=0',
  },
} satisfies Record<string, HeaderDescription & { readonly name: string }>;

export type RequestHeader = keyof typeof REQUEST_HEADERS;

const header = (description: string, more: Partial<HeaderDescription> = {}): HeaderDescription => ({
  description,
  schema: TEXT,
  ...more,
});
const required = (description: string, schema = TEXT) => header(description, { required: true, schema });
const textOf = (pattern: string): JsonSchema => ({ type: 'string', pattern });
const COUNT: JsonSchema = { type: 'integer', minimum: 0 };
const URL: JsonSchema = { type: 'string', format: 'uri-reference' };

/** The headers that responses have because of their operation or status. {@link commonHeaders} are the others. */
const RESPONSE_HEADERS = {
  'Retry-After': header('With 429 and 503: how many seconds to wait before trying again.', {
    schema: COUNT,
    example: 1,
  }),
  'WWW-Authenticate': header(
    'With 401 and 403: which credentials are accepted, and why those that were sent are not (RFC 6750 section 3, RFC 9728 section 5.1).',
  ),
  'Accept-Patch': header('With 415, to a PATCH: the media types that it accepts (RFC 5789 section 3.1).'),
  ETag: header(
    'Identifies what the response shows. The tag of a whole record is strong and can be sent in `If-Match`, as it is: it is not always the version, such as `"3-1b9f04c7ae"` after the store was restored. The tag of a list or a document is weak.',
    { required: true, schema: textOf('^(W/)?"[^"]*"$'), example: '"3"' },
  ),
  ListETag: header('Identifies the page, for `If-None-Match`. A weak tag; a response in lines has none.', {
    schema: textOf('^W/"[^"]*"$'),
    example: 'W/"3q2-7w"',
  }),
  CurrentETag: header('With 412: the current tag of the record.', {
    schema: textOf('^"[^"]*"$'),
    example: '"4"',
  }),
  Location: header('The URL of the new record.', {
    required: true,
    schema: URL,
    example: '/v1/products/17',
  }),
  'Content-Location': header('The URL of the record by its id.', { schema: URL, example: '/v1/products/17' }),
  Link: header(
    'The URLs of other pages of a list (RFC 8288): `rel="next"`, `"prev"` and `"first"`. The last page has no `next`. `"monitor"` is the URL of the changes, if the service records them.',
    { example: '</v1/products?limit=100>; rel="first", </v1/products?limit=100&cursor=…>; rel="next"' },
  ),
  NextLink: header('The URL of the changes behind these (RFC 8288): `rel="next"`, also if there are none yet.', {
    required: true,
    example: '</v1/products/changes?limit=100&cursor=…>; rel="next"',
  }),
  MoreLink: header('The URL of the values behind these (RFC 8288): `rel="next"`, if one field has more.', {
    example: '</v1/products/facets?fields=brand&limit=20&cursor=…>; rel="next"',
  }),
  'X-Total-Count': header('The number of matching records. Sent only if the request has `Prefer: count=exact`.', {
    schema: COUNT,
  }),
  'Preference-Applied': header('The preferences that were honoured (RFC 7240 section 3).'),
  'Idempotency-Replayed': header(
    'Sent if this repeats the response to an earlier request with the same `Idempotency-Key`.',
    { schema: { type: 'string', enum: ['true'] } },
  ),
};

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** The names of headers that are described differently for some operations. */
const SENT_NAMES: Readonly<Partial<Record<ResponseHeader, string>>> = {
  ListETag: 'ETag',
  CurrentETag: 'ETag',
  NextLink: 'Link',
  MoreLink: 'Link',
};

/** The Parameter Objects of request headers. Each is in the document once. */
export function requestHeaders(
  names: readonly RequestHeader[],
  components: Components,
  required: readonly RequestHeader[],
): Reference[] {
  return names.map((name) =>
    components.share('parameters', name, {
      ...REQUEST_HEADERS[name],
      in: 'header',
      ...(required.includes(name) && { required: true }),
    }),
  );
}

/** The Header Objects of a response, by name. Each is in the document once. */
export function responseHeaders(names: readonly ResponseHeader[], components: Components): Record<string, Reference> {
  return Object.fromEntries(
    names.map((name) => [SENT_NAMES[name] ?? name, components.share('headers', name, RESPONSE_HEADERS[name])]),
  );
}

/** What decides which headers all responses of a service can have. */
export interface HeaderFacts {
  /** Whether it sends `Strict-Transport-Security`. */
  readonly hasHsts: boolean;
  readonly hasCors: boolean;
  /** Whether a version of a resource is deprecated. */
  readonly hasDeprecation: boolean;
}

/**
 * The headers that do not depend on the operation. The document describes them once, under `x-response-headers`: in
 * each response they would be half of the document, and no client reads them.
 */
export function commonHeaders({ hasHsts, hasCors, hasDeprecation }: HeaderFacts): Record<string, HeaderDescription> {
  return { ...EVERYWHERE, ...(hasHsts && HSTS), ...(hasCors && CORS), ...(hasDeprecation && DEPRECATION) };
}

const EVERYWHERE: Readonly<Record<string, HeaderDescription>> = {
  'X-Request-Id': required('Identifies the request. Quote it when you report a problem.', textOf(REQUEST_ID.source)),
  'RateLimit-Policy': header(
    'The rate limit that applies: `q` requests in `w` seconds. `"default"` counts the requests of one client, known by its credential or else by its IP address; `"auth"` counts the failed authentications of one IP address.',
    { schema: textOf('^"(default|auth)";q=[0-9]+;w=[0-9]+$') },
  ),
  RateLimit: header('What is left of the rate limit: `r` requests for the next `t` seconds.', {
    schema: textOf('^"(default|auth)";r=[0-9]+;t=[0-9]+$'),
  }),
  'API-Version': required('The version of the API that responds.', textOf('^[1-9][0-9]*$')),
  'Cache-Control': required('Whether and how the response may be cached (RFC 9111).'),
  Pragma: header('The same as `Cache-Control`, from `/oauth/token`.'),
  Vary: header('The request headers that the response depends on.'),
  'Content-Encoding': header('How the body is compressed. The service does so if `Accept-Encoding` allows it.', {
    schema: { type: 'string', enum: ['gzip', 'br'] },
  }),
  'X-Content-Type-Options': required('Tells browsers not to guess another media type.'),
  'Content-Security-Policy': required('What the response may load and run if a browser opens it as a page.'),
  'Referrer-Policy': required('Tells browsers not to pass the URL on to other sites.'),
  'Cross-Origin-Resource-Policy': required('Whether pages of other origins may embed the response.'),
};

const HSTS = { 'Strict-Transport-Security': required('Tells browsers to use HTTPS only.') };

const CORS = {
  'Access-Control-Allow-Origin': header('The origin whose scripts may read the response.'),
  'Access-Control-Expose-Headers': header('The response headers that those scripts may read.'),
};

const DEPRECATION = {
  Deprecation: header('When this version was or will be deprecated (RFC 9745): `@` and a Unix time in seconds.', {
    schema: textOf('^@-?\\d+$'),
  }),
  Sunset: header('When this version may be removed (RFC 8594), at least 12 months after its deprecation.'),
  Link: header('With `rel="successor-version"`, the same path in the next version.'),
};
