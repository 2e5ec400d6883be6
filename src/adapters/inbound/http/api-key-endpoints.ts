import type { ApiKeyService } from '../../../application/auth/api-key-service.js';
import type { ApiKey } from '../../../domain/access.js';
import { type Endpoint, idOf, type Operation } from './endpoint.js';
import { onceFor, readIdempotencyKey } from './idempotency-key.js';
import { describedIssuance, describedRevocation } from './openapi/described-issuance.js';
import { noParameter } from './query.js';
import type { ResourceDescription } from './resource-description.js';
import {
  answerJson,
  endpointsOf,
  JSON_TYPES,
  ResourceOperations,
  type ResourcePolicy,
} from './resource-endpoints.js';

/** API keys are issued and revoked, and never changed. */
export function apiKeyEndpoints(
  resource: ResourceDescription<ApiKey>,
  service: ApiKeyService,
  policy: ResourcePolicy,
): Endpoint[] {
  const operations = new ResourceOperations(resource, service.keys, policy);
  const revoke: Operation = {
    ...operations.remove((ctx, precondition) =>
      service.revokeFor(ctx.state.principal, idOf(ctx), precondition),
    ),
    describe: () => describedRevocation(operations.described),
  };
  return endpointsOf(
    resource,
    { GET: operations.list(), POST: issue(resource, service, operations) },
    { operations: { GET: operations.read(), DELETE: revoke } },
  );
}

/** JSON only: a stream of secrets would be lost with its connection. */
function issue(
  resource: ResourceDescription<ApiKey>,
  service: ApiKeyService,
  operations: ResourceOperations<ApiKey>,
): Operation {
  return {
    describe: () => describedIssuance(operations.described),
    scope: resource.writeScope,
    parameter: noParameter,
    headers: readIdempotencyKey,
    body: operations.body(JSON_TYPES),
    handle: async (ctx) => {
      const { body } = ctx.request;
      const creation = { draft: service.keys.draft(body), once: onceFor(ctx, body) };
      const issued = await service.issueFor(ctx.state.principal, creation);
      operations.announce(ctx, issued);
      ctx.set('ETag', operations.tagOf(issued.record));
      // Whole even if Prefer asks for less: the key is shown only here.
      answerJson(ctx, { ...resource.present(issued.record), key: issued.key });
      ctx.status = 201;
    },
  };
}
