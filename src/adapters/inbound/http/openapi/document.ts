import type { Scope } from '../../../../domain/access.js';
import type { ResponseErrorCode } from '../response/error-codes.js';
import type { Access, Route } from '../route.js';
import { Components } from './components.js';
import type { ResponseHeader } from './header-objects.js';
import { type AccessDefaults, type GlobalHeaders, PathItemBuilder } from './path-item.js';

/** The facts about a service that the document states. */
export interface ServiceFacts {
  /** Its public URL. */
  readonly url: string;
  readonly version: string;
  /** The description of each tag, in their order. */
  readonly tags: Readonly<Record<string, string>>;
  /** Whether a proxy terminates TLS. */
  readonly isProxied: boolean;
  /** Whether it sends `Strict-Transport-Security`. */
  readonly hasHsts: boolean;
  /** Whether CORS is on. */
  readonly hasCors: boolean;
}

/** The errors of every request, before a route is found. */
const COMMON_ERRORS: readonly ResponseErrorCode[] = [
  'invalid_parameter',
  'unknown_parameter',
  'request_timeout',
  'uri_too_long',
  'headers_too_large',
  'internal_error',
];
const NEGOTIATION_ERRORS: readonly ResponseErrorCode[] = [
  'unsupported_version',
  'not_acceptable',
  'expectation_failed',
  'unavailable',
];

const COMMON_HEADERS: readonly ResponseHeader[] = [
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
 * The OpenAPI 3.1 document. It is built from the mounted routes and the schemas that validate bodies, so that it always
 * matches the service.
 */
export function openApiDocument(routes: readonly Route[], facts: ServiceFacts): object {
  const components = new Components();
  const globals = globalHeaders(facts);
  const defaults = accessDefaults(facts);
  const paths = routes.map((route) => {
    const builder = new PathItemBuilder(route, defaults[route.access], globals, components);
    return [route.template, builder.build()];
  });
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

function accessDefaults({
  isProxied,
  hasHsts,
  hasCors,
}: ServiceFacts): Readonly<Record<Access, AccessDefaults>> {
  const headers: readonly ResponseHeader[] = [
    ...COMMON_HEADERS,
    ...(hasHsts ? (['Strict-Transport-Security'] as const) : []),
    ...(hasCors ? (['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'] as const) : []),
  ];
  const limited = {
    headers: [...headers, 'RateLimit-Policy', 'RateLimit'] as const,
    errors: [
      ...COMMON_ERRORS,
      ...NEGOTIATION_ERRORS,
      'rate_limited',
      ...(isProxied ? (['https_required'] as const) : []),
    ] as const,
  };
  return {
    bearer: limited,
    public: limited,
    probe: { headers, errors: [...COMMON_ERRORS, ...NEGOTIATION_ERRORS] },
  };
}

function globalHeaders({ hasCors }: ServiceFacts): GlobalHeaders {
  return {
    requestHeaders: ['ApiVersion', 'RequestId', ...(hasCors ? (['Origin'] as const) : [])],
    preflightHeaders: hasCors ? ['RequestedMethod'] : [],
    preflightResponseHeaders: hasCors
      ? ['Access-Control-Allow-Methods', 'Access-Control-Allow-Headers', 'Access-Control-Max-Age']
      : [],
  };
}

function securitySchemes({ url }: ServiceFacts): object {
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'An API key (`pcs_…`) or an access token.',
    },
    oauth2: {
      type: 'oauth2',
      description:
        'An access token. The client id is the id of an API key, and the client secret is the key itself.',
      flows: { clientCredentials: { tokenUrl: `${url}/oauth/token`, scopes: SCOPE_DESCRIPTIONS } },
    },
    client: {
      type: 'http',
      scheme: 'basic',
      description:
        'For the token endpoint only: the id of an API key as the user name, and the key itself as the password. Both can be sent in the body instead.',
    },
  };
}

const INTRODUCTION = `The addresses of resources begin with \`/v1\`. In an address without a version, the header \`API-Version\` selects one; without that header it is version 1, and always will be.

- **Errors** all have \`code\`, \`message\` and \`details\`. With \`application/problem+json\` these are members of a problem (RFC 9457).
- **No lost updates**: every record has an \`ETag\`. A write with \`If-Match\` is carried out only if the record is still as you saw it.
- **Safe retries**: a POST with an \`Idempotency-Key\` can be repeated until it is answered, and creates nothing twice.
- **Rate limits**: \`RateLimit-Policy\` and \`RateLimit\` tell how many requests are left. Beyond the limit the response is 429 with \`Retry-After\`.

An address that is not described here answers 404 \`not_found\`, and a method that an address does not support 405 \`method_not_allowed\`, with \`Allow\`. Both look like every other error.`;

/** What each scope allows. A missing scope does not compile. */
const SCOPE_DESCRIPTIONS: Readonly<Record<Scope, string>> = {
  'products:read': 'List and read products.',
  'products:write': 'Create, change and delete products.',
  'users:read': 'List and read users.',
  'users:write': 'Create, change and delete users.',
  'orders:read': 'List and read orders.',
  'orders:write': 'Create, change and delete orders.',
  'keys:admin': 'Create, list and revoke API keys.',
};
