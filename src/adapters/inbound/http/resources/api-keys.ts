import { type ApiKeyService, presentApiKey } from '../../../../application/auth/api-keys.js';
import type { UsedApiKey } from '../../../../application/auth/key-usage.js';
import { API_KEY, type ApiKey } from '../../../../domain/api-key.js';
import { indexedFields } from '../../../../domain/fields.js';
import { parseInstant } from '../../../../domain/instant.js';
import { descriptionOf } from '../../../../domain/validation.js';
import { API_KEY_SHAPE, EXAMPLE_KEY } from '../../../../shared/api-key-format.js';
import { sha256 } from '../core/etag.js';
import { arrayOf, instantSchema, type JsonSchema, open, type Properties, text, whole } from '../core/json-schema.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { idOf, type Operation, type Route } from '../core/route.js';
import { idempotencyOf } from '../parameters/request-headers.js';
import { fromFieldTable } from './definitions.js';
import { ResourceOperations, type ResourcePolicy, respondJson } from './resource-operations.js';
import { routesOf } from './resource-routes.js';

const {
  digest: _secret,
  lastUsedAt: _setByUse,
  createdBy: _setByMaker,
  createdBySubject: _setByToken,
  ...SENDABLE_FIELDS
} = API_KEY;

const MINUTE_MS = 60_000;

const REQUESTS = whole('The number of requests.');
const ROUTE_USAGE = open({
  method: text('The method of HTTP.', { examples: ['GET'] }),
  route: text('The template of the path.', { examples: ['/v1/products/{id}'] }),
  version: whole('The version of the API.', 1, 2 ** 31 - 1),
  requests: REQUESTS,
});
/** Six methods of each route. */
const MAX_ROUTES = 1_000;
const USAGE: JsonSchema = {
  ...open({
    since: text('The beginning of the first hour that is counted, 24 to 25 hours ago.', {
      format: 'date-time',
    }),
    requests: REQUESTS,
    byRoute: arrayOf(ROUTE_USAGE, MAX_ROUTES, 'By method and route, the most requests first.'),
  }),
  description:
    'The requests of the last 24 hours that the key made, and access tokens that were issued for it, with any response. Complete to about ten seconds; a process that crashes loses those. Only GET of one key shows it, and only if there are any.',
};

const READ_ONLY_FIELDS: Properties = {
  createdAt: instantSchema('When the key was created'),
  lastUsedAt: instantSchema(API_KEY.lastUsedAt.description),
  createdBy: { ...whole(descriptionOf(API_KEY.createdBy)), examples: [API_KEY.createdBy.example] },
  createdBySubject: text(descriptionOf(API_KEY.createdBySubject)),
  usage: USAGE,
};

/** Of the fields of the response to a creation, `key` is the only one that no stored key shows. */
const FROM_TABLE = fromFieldTable<UsedApiKey>(SENDABLE_FIELDS, [...Object.keys(READ_ONLY_FIELDS), 'key']);

/** The definition of API keys. Responses never show the digest, and lists cannot be filtered by it. */
export const API_KEYS: ResourceDefinition<UsedApiKey> = {
  path: 'api-keys',
  version: 1,
  readScope: 'keys:admin',
  writeScope: 'keys:admin',
  docs: {
    name: 'ApiKey',
    singular: 'an API key',
    plural: 'API keys',
    description:
      'Credentials for programs. A key is shown once, when it is created. It cannot be changed; to revoke it, delete it.',
    schemaNames: { scopes: 'Scope', usage: 'ApiKeyUsage' },
  },
  readOnlyFields: READ_ONLY_FIELDS,
  itemFields: ['usage'],
  alwaysPresent: ['createdAt'],
  secret: {
    name: 'key',
    schema: text('The key itself, shown only in this response.', { pattern: API_KEY_SHAPE.source }),
    example: EXAMPLE_KEY,
  },
  ...FROM_TABLE,
  fields: { ...FROM_TABLE.fields, ...indexedFields({ createdBy: API_KEY.createdBy }) },
  present: presentApiKey,
  // Stores keep whole milliseconds.
  toFields: ({ expiresAt, ...rest }) => {
    const at = typeof expiresAt === 'string' ? parseInstant(expiresAt) : undefined;
    return { ...rest, ...(at !== undefined && { expiresAt: Math.floor(at) }) };
  },
  // Responses show the last use and the usage, so the strong tag must differ with them (RFC 9110 section 8.8.1).
  tagState: {
    of: ({ fields: { lastUsedAt, usage } }) => {
      const minute = lastUsedAt === undefined ? '' : `@${lastUsedAt / MINUTE_MS}`;
      return `${minute}${usage ? `.${sha256(JSON.stringify(usage))}` : ''}`;
    },
    pattern: '(?:@[0-9]+)?(?:\\.[A-Za-z0-9_-]+)?',
  },
};

/** The routes of API keys, which are created and revoked, but never changed. */
export function apiKeyRoutes(
  resource: ResourceDefinition<ApiKey>,
  service: ApiKeyService,
  policy: ResourcePolicy<ApiKey>,
): Route[] {
  const operations = new ResourceOperations(resource, service.keys, policy);
  // JSON only: the secrets of an import would be lost if its connection broke.
  const issueKey = operations.creation('issue', async (ctx) => {
    const { body } = ctx.request;
    const creation = { draft: service.keys.draft(body), idempotency: idempotencyOf(ctx, body) };
    const issued = await service.issueFor(ctx.state.principal, creation);
    operations.setCreationHeaders(ctx, issued);
    ctx.set('ETag', operations.tagOf(ctx, issued.record));
    // The body ignores `Prefer: return=minimal`, because the key is shown only here.
    respondJson(ctx, { ...resource.present(issued.record), key: issued.key });
    ctx.status = 201;
  });
  const revoke: Operation = {
    ...operations.remove((ctx, precondition) => service.revokeFor(ctx.state.principal, idOf(ctx), precondition)),
    purpose: operations.purpose('revoke'),
  };
  return routesOf(resource, {
    '': { GET: operations.list(), POST: issueKey },
    '/{id}': { GET: operations.read((ctx) => service.read(idOf(ctx))), DELETE: revoke },
  });
}
