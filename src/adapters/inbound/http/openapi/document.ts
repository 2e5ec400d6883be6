import { SCOPES, type Scope } from '../../../../domain/access.js';
import type { ResponseErrorCode } from '../core/error-codes.js';
import { type ResourceDefinition, tagOf } from '../core/resource-definition.js';
import type { Operation, Route } from '../core/route.js';
import { Components } from './components.js';
import { codeList } from './error-responses.js';
import { commonHeaders } from './headers.js';
import { OAUTH_TAG, pathItem } from './operations.js';

/** The facts about a service that the document states. */
export interface ServiceFacts {
  readonly url: string;
  readonly version: string;
  /** In the order of their tags. */
  readonly resources: readonly ResourceDefinition<never>[];
  /** Whether a proxy terminates TLS. */
  readonly isProxied: boolean;
  /** Whether it sends `Strict-Transport-Security`. */
  readonly hasHsts: boolean;
  readonly hasCors: boolean;
  /** Whether every write needs `If-Match`. */
  readonly requireIfMatch: boolean;
}

/** The errors that every request can get. */
const COMMON_ERRORS: readonly ResponseErrorCode[] = [
  'invalid_parameter',
  'unknown_parameter',
  'unsupported_version',
  'unauthenticated',
  'invalid_token',
  'token_expired',
  'insufficient_scope',
  'not_acceptable',
  'request_timeout',
  'uri_too_long',
  'expectation_failed',
  'headers_too_large',
  'rate_limited',
  'internal_error',
  'unavailable',
];

/**
 * The OpenAPI 3.1 document. It is built from the mounted routes and the schemas that validate bodies, so that it always
 * matches the service. It avoids what generators of clients cannot read: see docs/explanation/internals.md.
 */
export function openApiDocument(routes: readonly Route[], facts: ServiceFacts): object {
  const components = new Components();
  const requiredHeaders = facts.requireIfMatch ? (['IfMatch'] as const) : [];
  const shared = { components, requiredHeaders, commonErrors: commonErrors(facts) };
  const items = routes.flatMap((route): [string, object][] => {
    const item = pathItem(route, shared);
    return item ? [[route.template, item]] : [];
  });
  components.shareParameters(items.flatMap(([, item]) => Object.values(item)));
  const paths = Object.fromEntries(items);
  const operations = routes.flatMap((route) => Object.values<Operation>(route.operations));
  return {
    openapi: '3.1.0',
    info: infoObject(
      facts,
      operations.some(({ purpose }) => purpose?.kind === 'changes'),
    ),
    servers: [{ url: facts.url }],
    tags: [
      ...facts.resources.map(({ docs }) => ({ name: tagOf(docs), description: docs.description })),
      { name: OAUTH_TAG, description: 'Access tokens in exchange for API keys.' },
    ],
    security: [{ bearer: [] }],
    paths,
    components: { ...components.usedBy(paths), securitySchemes: SECURITY_SCHEMES },
    'x-error-codes': shared.commonErrors,
    'x-response-headers': commonHeaders({
      ...facts,
      hasDeprecation: routes.some(({ deprecation }) => deprecation !== undefined),
    }),
  };
}

function commonErrors({ isProxied }: ServiceFacts): readonly ResponseErrorCode[] {
  return [...COMMON_ERRORS, ...(isProxied ? (['https_required'] as const) : [])];
}

function infoObject(facts: ServiceFacts, hasChanges: boolean): object {
  return {
    title: 'Product catalogue',
    version: facts.version,
    description: introduction(facts, hasChanges),
    contact: { name: 'The interactive reference of this service', url: `${facts.url}/docs` },
    license: { name: 'Apache License 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
  };
}

/** The resources with a scope to read and one to write. */
const RESOURCES = SCOPES.filter((scope) => scope.endsWith(':read')).map((scope) => scope.replace(':read', ''));

function scopeDescription(scope: Scope): string {
  if (scope === 'keys:admin') return 'create, list and revoke API keys';
  if (scope === 'webhooks:admin') return 'create, list, change and delete webhooks';
  const [name, action] = scope.split(':');
  return `${action === 'read' ? 'list and read' : 'create, change and delete'} ${name}`;
}

const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: `An API key (\`pcs_…\`), or an access token that \`POST /oauth/token\` grants for one. Each operation names the scopes that the credential needs:\n\n${SCOPES.map(
      (scope) => `- \`${scope}\`: ${scopeDescription(scope)}`,
    ).join('\n')}`,
  },
};

const CHANGES = `- **Changes**: \`/changes\` without a cursor is empty, and \`next\` in its \`Link\` is the URL of all changes from now on. To keep a copy of a list, take that URL, read the list, and then follow \`next\` for ever; a change can be shown again, and an empty page is the last one so far. With \`Accept: application/x-ndjson\` and without \`limit\`, all changes up to now are sent.
`;

function introduction(facts: ServiceFacts, hasChanges: boolean): string {
  const names = new Intl.ListFormat('en-GB').format(RESOURCES);
  return `${names.charAt(0).toUpperCase()}${names.slice(1)} over HTTPS.

- **Lists** come in pages of at most \`limit\` records, or fewer if they are large. All filters, at most 100, must match. To read the whole list, follow \`next\` in \`Link\` until there is none: every record that keeps its place in the list appears exactly once, whatever else is written in the meantime. With \`Accept: application/x-ndjson\` each record is a line, and with \`Accept: text/csv\` a row under a header row; without \`limit\` the whole list is then sent as one stream. If the stream cannot be completed, the connection is cut before the end of the response, which HTTP clients report as an error.
- **Errors** all have \`code\`, \`message\` and \`details\`. With \`Accept: application/problem+json\` they are problems (RFC 9457) that have these members too. The response \`4XX\` of each operation lists its codes. Every request can also get ${codeList(commonErrors(facts))}. \`x-error-codes\` has the codes for programs.
- **New fields** may appear in responses at any time: ignore those that you do not know. Requests may have only the described fields.
- **null** stands for no value: of an optional field or member, or of an attribute, it is the same as leaving it out, in the body of a POST or PUT, in a line of an import and in the result of a JSON Patch. In a merge patch it removes. In place of a required field or of an element of an array it is refused.
- **Patches**: a PATCH takes a JSON Merge Patch (RFC 7396) or a JSON Patch (RFC 6902), which is applied as a whole or not at all. Without \`If-Match\` it is applied to the latest version, so that changes of others to other fields are not lost. In a JSON Patch, \`add\`, and the target of \`copy\` and \`move\`, directly below an optional list or the attributes of a record that has none act on an empty one.
- **Imports**: the response has a result for each line of the body, in the same order; a bad line does not stop the others. With an \`Idempotency-Key\`, the lines can be sent again after any failure, and nothing is created twice. CSV begins with a header row, which names the columns; the records after it count from line 1, without empty ones. If the header row is invalid, nothing is created.
${hasChanges ? CHANGES : ''}- **No lost updates**: every record has an \`ETag\`. A write with \`If-Match\` is carried out only if the record is still as you saw it.
- **Safe retries**: a POST with an \`Idempotency-Key\` can be repeated until a response arrives, and creates nothing twice.
- **No body**: with \`Prefer: return=minimal\` (RFC 7240), the response to a POST, PUT or PATCH of a record has no body but the header \`Preference-Applied\`; that of PUT and PATCH is then 204. The response to the creation of an API key always has its body.
- **Rate limits**: \`RateLimit-Policy\` and \`RateLimit\` tell how many requests are left. Beyond the limit the response is 429 with \`Retry-After\`. \`/health/*\` has no limit.
- **Versions**: the paths of resources begin with \`/v1\`. For a path without it, the request header \`API-Version\` selects the version; without that header it is version 1, and always will be. The header \`API-Version\` of a response names its version.
- **HEAD** is possible wherever GET is and has the same headers, without a body. **OPTIONS** is possible everywhere and needs no credential: the response is 204, and its header \`Allow\` lists the methods of the path.
- **Other paths** get 404 \`not_found\`, and other methods 405 \`method_not_allowed\` with \`Allow\`. If that lists PATCH, \`Accept-Patch\` lists the media types of its body.
- **Request ids**: a request header \`X-Request-Id\` of up to 128 characters from \`A-Z a-z 0-9 . _ ~ : / + = @ -\` is returned in the response and written to the log; any other value is replaced by a generated one.
- **Compression**: with \`Accept-Encoding: gzip\` or \`br\`, lists, streams and documents are compressed.
- **Headers** that do not depend on the operation are described once, under \`x-response-headers\` in the document itself.`;
}
