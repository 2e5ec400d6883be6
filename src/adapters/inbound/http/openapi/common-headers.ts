import { type JsonSchema, TEXT } from '../core/json-schema.js';
import { REQUEST_ID } from '../middleware/response-headers.js';

interface CommonHeader {
  readonly required?: true;
  readonly description: string;
  readonly schema: JsonSchema;
}

/** What decides which headers all responses of a service can have. */
export interface HeaderFacts {
  /** Whether it sends `Strict-Transport-Security`. */
  readonly hasHsts: boolean;
  /** Whether CORS is on. */
  readonly hasCors: boolean;
  /** Whether a version of a resource is deprecated. */
  readonly hasDeprecation: boolean;
}

/**
 * The headers that do not depend on the operation. The document describes them once, under `x-response-headers`: in
 * each response they would be half of the document, and no client reads them.
 */
export function commonHeaders({
  hasHsts,
  hasCors,
  hasDeprecation,
}: HeaderFacts): Record<string, CommonHeader> {
  return { ...EVERYWHERE, ...(hasHsts && HSTS), ...(hasCors && CORS), ...(hasDeprecation && DEPRECATION) };
}

const EVERYWHERE: Readonly<Record<string, CommonHeader>> = {
  'X-Request-Id': {
    required: true,
    description: 'Identifies the request. Quote it when you report a problem.',
    schema: { type: 'string', pattern: REQUEST_ID.source },
  },
  'RateLimit-Policy': {
    description:
      'The rate limit that applies: `q` requests in `w` seconds. `"default"` counts the requests of one client, known by its credential or else by its IP address; `"auth"` counts the failed authentications of one IP address.',
    schema: { type: 'string', pattern: '^"(default|auth)";q=[0-9]+;w=[0-9]+$' },
  },
  RateLimit: {
    description: 'What is left of the rate limit: `r` requests for the next `t` seconds.',
    schema: { type: 'string', pattern: '^"(default|auth)";r=[0-9]+;t=[0-9]+$' },
  },
  'API-Version': {
    required: true,
    description: 'The version of the API that responds.',
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
  },
  'Cache-Control': {
    required: true,
    description: 'Whether and how the response may be cached (RFC 9111).',
    schema: TEXT,
  },
  Pragma: { description: 'The same as `Cache-Control`, from `/oauth/token`.', schema: TEXT },
  Vary: { description: 'The request headers that the response depends on.', schema: TEXT },
  'Content-Encoding': {
    description: 'How the body is compressed. The service does so if `Accept-Encoding` allows it.',
    schema: { type: 'string', enum: ['gzip', 'br'] },
  },
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
    description: 'Tells browsers not to pass the URL on to other sites.',
    schema: TEXT,
  },
  'Cross-Origin-Resource-Policy': {
    required: true,
    description: 'Whether pages of other origins may embed the response.',
    schema: TEXT,
  },
};

const HSTS: Readonly<Record<string, CommonHeader>> = {
  'Strict-Transport-Security': {
    required: true,
    description: 'Tells browsers to use HTTPS only.',
    schema: TEXT,
  },
};

const CORS: Readonly<Record<string, CommonHeader>> = {
  'Access-Control-Allow-Origin': {
    description: 'The origin whose scripts may read the response.',
    schema: TEXT,
  },
  'Access-Control-Expose-Headers': {
    description: 'The response headers that those scripts may read.',
    schema: TEXT,
  },
};

const DEPRECATION: Readonly<Record<string, CommonHeader>> = {
  Deprecation: {
    description: 'When this version was or will be deprecated (RFC 9745): `@` and a Unix time in seconds.',
    schema: { type: 'string', pattern: '^@-?\\d+$' },
  },
  Sunset: {
    description: 'When this version may be removed (RFC 8594), at least 12 months after its deprecation.',
    schema: TEXT,
  },
  Link: {
    description: 'With `rel="successor-version"`, the same path in the next version.',
    schema: TEXT,
  },
};
