import type { ApiKeyService } from '../../../../application/auth/api-keys.js';
import type { ApiKey } from '../../../../domain/api-key.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { type Handler, idOf, type Operation, type Route } from '../core/route.js';
import { idempotencyOf } from '../query/idempotency-key.js';
import { ResourceOperations, type ResourcePolicy, respondJson } from './resource-operations.js';
import { routesOf } from './resource-routes.js';

/** The routes of API keys, which are created and revoked, but never changed. */
export function apiKeyRoutes(
  resource: ResourceDefinition<ApiKey>,
  service: ApiKeyService,
  policy: ResourcePolicy<ApiKey>,
): Route[] {
  const operations = new ResourceOperations(resource, service.keys, policy);
  // JSON only: the secrets of an import would be lost if its connection broke.
  const issueKey = operations.creation('issue', issueHandler(resource, service, operations));
  const revoke: Operation = {
    ...operations.remove((ctx, precondition) =>
      service.revokeFor(ctx.state.principal, idOf(ctx), precondition),
    ),
    purpose: operations.purpose('revoke'),
  };
  return routesOf(
    resource,
    { GET: operations.list(), POST: issueKey },
    { GET: operations.read((ctx) => service.read(idOf(ctx))), DELETE: revoke },
  );
}

function issueHandler(
  resource: ResourceDefinition<ApiKey>,
  service: ApiKeyService,
  operations: ResourceOperations<ApiKey>,
): Handler['handle'] {
  return async (ctx) => {
    const { body } = ctx.request;
    const creation = { draft: service.keys.draft(body), idempotency: idempotencyOf(ctx, body) };
    const issued = await service.issueFor(ctx.state.principal, creation);
    operations.setCreationHeaders(ctx, issued);
    ctx.set('ETag', operations.tagOf(ctx, issued.record));
    // The body ignores `Prefer: return=minimal`, because the key is shown only here.
    respondJson(ctx, { ...resource.present(issued.record), key: issued.key });
    ctx.status = 201;
  };
}
