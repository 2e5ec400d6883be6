import type { ShownWebhook, WebhookService } from '../../../../application/webhooks/webhook-service.js';
import type { Webhook } from '../../../../domain/webhook.js';
import { clientOf } from '../core/concurrency-limits.js';
import { noParameter } from '../core/parameter.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { type Handler, idOf, type Operation, type Route } from '../core/route.js';
import { type ListService, listOperation } from '../list/list-operation.js';
import { idempotencyOf } from '../query/idempotency-key.js';
import { ResourceOperations, type ResourcePolicy, respondJson } from './resource-operations.js';
import { routesOf } from './resource-routes.js';
import { presentAttempt } from './webhooks.js';

/** The routes of webhooks, and of their secrets and deliveries. */
export function webhookRoutes(
  resource: ResourceDefinition<ShownWebhook>,
  service: WebhookService,
  policy: ResourcePolicy<Webhook>,
): Route[] {
  const operations = new ResourceOperations<ShownWebhook>(resource, service.webhooks, policy);
  const list: Operation = { ...operations.list(), ...listOperation(resource, listed(service), policy) };
  const attempts: Operation = {
    purpose: operations.purpose('attempts'),
    scopes: [resource.readScope],
    parameter: noParameter,
    ensureExists: (ctx) => service.webhooks.read(idOf(ctx)),
    handle: async (ctx) => {
      const found = await service.attempts(idOf(ctx));
      respondJson(ctx, found.map(presentAttempt));
    },
  };
  const test: Operation = {
    ...attempts,
    purpose: operations.purpose('test'),
    handle: async (ctx) => {
      const attempt = await service.test(clientOf(ctx), idOf(ctx));
      respondJson(ctx, presentAttempt(attempt));
      ctx.status = 201;
    },
  };
  const revise = operations.patch(
    (ctx, precondition, change) => service.updateFor(ctx.state.principal, idOf(ctx), precondition, change),
    'revise',
  );
  // JSON only: the secrets of an import would be lost if its connection broke.
  const register = operations.creation('register', registerHandler(service, operations));
  return routesOf(
    resource,
    { GET: list, POST: register },
    {
      GET: operations.read((ctx) => service.read(idOf(ctx))),
      PATCH: revise,
      DELETE: operations.remove((ctx, precondition) => service.remove(idOf(ctx), precondition)),
    },
    {
      below: {
        secret: {
          POST: operations.act('renew', (ctx, precondition) =>
            service.renewSecretFor(ctx.state.principal, idOf(ctx), precondition),
          ),
        },
        deliveries: { GET: attempts, POST: test },
      },
    },
  );
}

function registerHandler(
  service: WebhookService,
  operations: ResourceOperations<ShownWebhook>,
): Handler['handle'] {
  return async (ctx) => {
    const { body } = ctx.request;
    const creation = { draft: service.webhooks.draft(body), idempotency: idempotencyOf(ctx, body) };
    const created = await service.createFor(ctx.state.principal, creation);
    operations.setCreationHeaders(ctx, created);
    operations.respondToWrite(ctx, 201, created.record);
  };
}

/** Lists show the state of each webhook. */
function listed(service: WebhookService): ListService<ShownWebhook> {
  return {
    list: (query) => service.list(query),
    pages: (query) => service.pages(query),
    count: (filters, task) => service.webhooks.count(filters, task),
  };
}
