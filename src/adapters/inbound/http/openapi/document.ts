import type { ErrorCode } from '../../../../domain/errors.js';
import type { Endpoint } from '../endpoint.js';
import { Components } from './components.js';
import { DescribedOperations, type Mounting, type Surroundings } from './described-operations.js';
import type { AnsweredHeader } from './description.js';
import { SCOPE_MEANINGS } from './scope-meanings.js';

/** All that is served, by how it is mounted. */
export interface Served {
  readonly guarded: readonly Endpoint[];
  readonly open: readonly Endpoint[];
  /** Neither guarded nor limited. */
  readonly unlimited: readonly Endpoint[];
}

/** What a service says of itself. */
export interface ServiceFacts {
  /** The address under which clients know it. */
  readonly url: string;
  readonly version: string;
  /** Of each subject of its operations, in their order. */
  readonly tags: Readonly<Record<string, string>>;
  /** Whether it stands behind a proxy that ends TLS. */
  readonly isProxied: boolean;
  /** Whether browsers are told to come over HTTPS only. */
  readonly isStrict: boolean;
  /** Whether scripts of other origins may read the answers. */
  readonly isShared: boolean;
}

/** Each request can end so, before any endpoint is asked. */
const ALWAYS: readonly ErrorCode[] = [
  'invalid_parameter',
  'unknown_parameter',
  'request_timeout',
  'uri_too_long',
  'headers_too_large',
  'internal_error',
];
const NEGOTIATED: readonly ErrorCode[] = [
  'unsupported_version',
  'not_acceptable',
  'expectation_failed',
  'unavailable',
];

const CARRIED: readonly AnsweredHeader[] = [
  'X-Request-Id',
  'API-Version',
  'Cache-Control',
  'Vary',
  'X-Content-Type-Options',
  'Content-Security-Policy',
  'Referrer-Policy',
  'Cross-Origin-Resource-Policy',
];

/**
 * The description of the interface, by OpenAPI 3.1: made of the endpoints that are mounted and the schemas that they judge
 * by, so that what it says is what is done.
 */
export function openApiDocument(served: Served, facts: ServiceFacts): object {
  const components = new Components();
  const operations = new DescribedOperations(components, surroundings(facts));
  const { guarded, open, unlimited } = mountings(facts);
  const paths = [
    ...served.guarded.map((endpoint) => [endpoint.route, operations.pathItem(endpoint, guarded)]),
    ...served.open.map((endpoint) => [endpoint.route, operations.pathItem(endpoint, open)]),
    ...served.unlimited.map((endpoint) => [endpoint.route, operations.pathItem(endpoint, unlimited)]),
  ];
  return {
    openapi: '3.1.1',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Product catalogue',
      version: facts.version,
      summary: 'Products, users and orders over HTTPS.',
      description: INTRODUCTION,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: facts.url }],
    tags: Object.entries(facts.tags).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(paths),
    components: { ...components.toJSON(), securitySchemes: securitySchemes(facts) },
  };
}

function mountings({ isProxied, isStrict, isShared }: ServiceFacts): Record<keyof Served, Mounting> {
  const carried: readonly AnsweredHeader[] = [
    ...CARRIED,
    ...(isStrict ? (['Strict-Transport-Security'] as const) : []),
    ...(isShared ? (['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'] as const) : []),
  ];
  const limited = {
    headers: [...carried, 'RateLimit-Policy', 'RateLimit'] as const,
    errors: [
      ...ALWAYS,
      ...NEGOTIATED,
      'rate_limited',
      ...(isProxied ? (['https_required'] as const) : []),
    ] as const,
  };
  return {
    guarded: { ...limited, isGuarded: true },
    open: { ...limited, isGuarded: false },
    unlimited: { headers: carried, errors: [...ALWAYS, ...NEGOTIATED], isGuarded: false },
  };
}

function surroundings({ isShared }: ServiceFacts): Surroundings {
  return {
    requestHeaders: ['ApiVersion', 'RequestId', ...(isShared ? (['Origin'] as const) : [])],
    preflightHeaders: isShared ? ['Origin', 'RequestedMethod'] : [],
    preflightAnswers: isShared
      ? ['Access-Control-Allow-Methods', 'Access-Control-Allow-Headers', 'Access-Control-Max-Age']
      : [],
  };
}

function securitySchemes({ url }: ServiceFacts): object {
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'An API key (`pcs_…`), or an access token.',
    },
    oauth2: {
      type: 'oauth2',
      description: 'An access token: the id of an API key is the client id, the key is the secret.',
      flows: { clientCredentials: { tokenUrl: `${url}/oauth/token`, scopes: SCOPE_MEANINGS } },
    },
    client: {
      type: 'http',
      scheme: 'basic',
      description:
        'At the token endpoint: the id of an API key, and the key. Both may stand in the body instead.',
    },
  };
}

const INTRODUCTION = `Resources are addressed under \`/v1\`, or without a version, which the header \`API-Version\` then names; absent it is 1, for ever.

- **Errors** all have \`code\`, \`message\` and \`details\`; as \`application/problem+json\` those are members of a problem (RFC 9457).
- **Lost updates**: every item has an \`ETag\`, and \`If-Match\` writes only to what was seen.
- **Doing things once**: a POST with an \`Idempotency-Key\` can be repeated until it is answered.
- **Limits**: \`RateLimit-Policy\` and \`RateLimit\` are on every answer. Over them it is 429 with \`Retry-After\`.

Whatever is not described here is 404 \`not_found\`, and a method that an address lacks is 405 \`method_not_allowed\` with \`Allow\`; both look as every error does.`;
