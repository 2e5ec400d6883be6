import { TAG_LIST_PATTERN } from '../entity-tag.js';
import { KEY_PATTERN } from '../idempotency-key.js';
import type { JsonSchema } from './json-schema.js';

interface HeaderDescription {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

const TEXT: JsonSchema = { type: 'string' };
const TAGS: JsonSchema = { type: 'string', pattern: TAG_LIST_PATTERN };

/** What the service reads of a request, but for what OpenAPI tells elsewhere: media types and credentials. */
export const REQUEST_HEADERS = {
  ApiVersion: {
    name: 'API-Version',
    description:
      'The version of the interface, where the address names none; one that disagrees with the address is refused. Absent: 1, for ever.',
    schema: { type: 'string', enum: ['1'] },
    example: '1',
  },
  RequestId: {
    name: 'X-Request-Id',
    description:
      'A name for the request, up to 128 of `A-Z a-z 0-9 . _ ~ : / + = @ -`; it comes back and stands in the log. Any other is replaced.',
    schema: TEXT,
    example: 'order-4711',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    description:
      'Has the request done exactly once, however often it is sent: the first answer comes again. 1 to 255 printable ASCII characters, chosen by the client, a UUID for instance; kept for 24 hours at least.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: KEY_PATTERN },
    example: '6f1c1d2e-5a49-4f1e-9a3c-2f3c8e6c7b10',
  },
  IfMatch: {
    name: 'If-Match',
    description:
      'Goes ahead only where the record is still what this tag stands for (RFC 9110 section 13.1.1); else 412 with the tag that stands now.',
    schema: TAGS,
    example: '"3"',
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    description:
      'Goes ahead only where the record is not what this tag stands for (RFC 9110 section 13.1.2).',
    schema: TAGS,
    example: '"3"',
  },
  KnownTags: {
    name: 'If-None-Match',
    description: 'Tags of what the client has already; where one of them still stands the answer is 304.',
    schema: TEXT,
    example: '"3"',
  },
  PreferMinimal: {
    name: 'Prefer',
    description: '`return=minimal`: an answer without body (RFC 7240 section 4.2).',
    schema: TEXT,
    example: 'return=minimal',
  },
  PreferCount: {
    name: 'Prefer',
    description: '`count=exact`: says in `X-Total-Count` how many records the filters fit.',
    schema: TEXT,
    example: 'count=exact',
  },
  AcceptEncoding: {
    name: 'Accept-Encoding',
    description: '`gzip` and `br` are known.',
    schema: TEXT,
    example: 'gzip, br',
  },
  Origin: { name: 'Origin', description: 'Of the script that asks; browsers send it.', schema: TEXT },
  RequestedMethod: {
    name: 'Access-Control-Request-Method',
    description: 'What a script is about to do; browsers send it.',
    schema: TEXT,
    example: 'PATCH',
  },
} satisfies Record<string, HeaderDescription & { readonly name: string }>;

export type RequestHeader = keyof typeof REQUEST_HEADERS;

const ENCODED = 'How the body is coded: `gzip` or `br`, where the request takes it and it is worth it.';
const INTEGER: JsonSchema = { type: 'integer', minimum: 0 };
const YES: JsonSchema = { type: 'string', enum: ['true'] };

/** What answers carry, but for what OpenAPI tells elsewhere and what HTTP's own transport needs. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    required: true,
    description: 'The name of the request, for questions about it.',
    schema: { type: 'string', minLength: 1, maxLength: 128 },
  },
  'API-Version': {
    required: true,
    description: 'The version of the interface that the answer speaks.',
    schema: { type: 'string', enum: ['1'] },
  },
  'Cache-Control': { required: true, description: 'Who may keep the answer (RFC 9111).', schema: TEXT },
  Vary: { description: 'The request headers that the answer depends on.', schema: TEXT },
  'RateLimit-Policy': {
    description:
      'The limit that applies: `q` requests in `w` seconds. `default` is of the principal, or of the address; `auth` of failed authentications of the address.',
    schema: { type: 'string', pattern: '^"(default|auth)";q=\\d+;w=\\d+$' },
    example: '"default";q=600;w=60',
  },
  RateLimit: {
    description: 'What is left of it: `r` requests, for `t` seconds.',
    schema: { type: 'string', pattern: '^"(default|auth)";r=\\d+;t=\\d+$' },
    example: '"default";r=599;t=60',
  },
  'Retry-After': {
    required: true,
    description: 'Seconds until it is worth trying again.',
    schema: INTEGER,
    example: 1,
  },
  'WWW-Authenticate': {
    description:
      'The credentials that would do, and why those that were sent did not (RFC 6750 section 3, RFC 9728 section 5.1).',
    schema: TEXT,
  },
  Allow: { required: true, description: 'The methods of this address.', schema: TEXT },
  'Accept-Patch': { description: 'The media types that PATCH takes (RFC 5789 section 3.1).', schema: TEXT },
  ETag: {
    required: true,
    description:
      'Stands for what the answer shows. That of an item is strong, and good in `If-Match`; that of a list is weak.',
    schema: { type: 'string', pattern: '^(W/)?"[^"]*"$' },
    example: '"3"',
  },
  Location: {
    required: true,
    description: 'The address of what was created.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  Link: {
    description:
      'Where the list goes on (RFC 8288): `rel="next"`, `"prev"` and `"first"`. Without `next` this is the last page.',
    schema: TEXT,
    example: '</v1/products?limit=100>; rel="first", </v1/products?limit=100&cursor=…>; rel="next"',
  },
  'X-Total-Count': {
    description: 'How many records the filters fit; under `Prefer: count=exact`.',
    schema: INTEGER,
  },
  'Preference-Applied': { description: 'The preferences that were met (RFC 7240 section 3).', schema: TEXT },
  'Idempotency-Replayed': {
    description: 'The answer to an earlier request under this `Idempotency-Key`, once more.',
    schema: YES,
  },
  'Content-Encoding': { description: ENCODED, schema: { type: 'string', enum: ['gzip', 'br'] } },
  Pragma: { required: true, description: 'As `Cache-Control`, for what is older.', schema: TEXT },
  'X-Content-Type-Options': {
    required: true,
    description: 'The body is of the type that is said.',
    schema: TEXT,
  },
  'Content-Security-Policy': {
    required: true,
    description: 'What the answer may do where a browser opens it as a page.',
    schema: TEXT,
  },
  'Referrer-Policy': {
    required: true,
    description: 'Addresses are told to no other service.',
    schema: TEXT,
  },
  'Cross-Origin-Resource-Policy': {
    required: true,
    description: 'Pages of other origins do not embed the answer.',
    schema: TEXT,
  },
  'Strict-Transport-Security': {
    required: true,
    description: 'Browsers come over HTTPS only.',
    schema: TEXT,
  },
  'Access-Control-Allow-Origin': {
    description: 'The origin whose scripts may read the answer.',
    schema: TEXT,
  },
  'Access-Control-Expose-Headers': { description: 'The headers that they may read.', schema: TEXT },
  'Access-Control-Allow-Methods': { description: 'What they may do here.', schema: TEXT },
  'Access-Control-Allow-Headers': { description: 'The headers that they may send.', schema: TEXT },
  'Access-Control-Max-Age': { description: 'Seconds for which they need not ask again.', schema: INTEGER },
} satisfies Record<string, HeaderDescription & { readonly required?: true }>;

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;
