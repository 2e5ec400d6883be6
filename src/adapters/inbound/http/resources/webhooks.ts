import type { RecordFormat } from '../../../../application/records/record-format.js';
import type { ShownWebhook, WebhookService } from '../../../../application/webhooks/webhook-service.js';
import { indexedFields } from '../../../../domain/fields.js';
import { instantText } from '../../../../domain/instant.js';
import type { Versioned } from '../../../../domain/record.js';
import { descriptionOf } from '../../../../domain/validation.js';
import { type DeliveryAttempt, STORED_WEBHOOK, statusOf, WEBHOOK, type Webhook } from '../../../../domain/webhook.js';
import { clientOf } from '../core/concurrency-limits.js';
import { sha256 } from '../core/etag.js';
import { instantSchema, type JsonSchema, open, type Properties, text, whole } from '../core/json-schema.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { idOf, type Operation, type Route } from '../core/route.js';
import { listOperation } from '../lists/list-operation.js';
import { idempotencyOf } from '../parameters/request-headers.js';
import { fromFieldTable } from './definitions.js';
import { ResourceOperations, type ResourcePolicy, respondJson } from './resource-operations.js';
import { routesOf } from './resource-routes.js';

const READ_ONLY_FIELDS: Properties = {
  createdBy: {
    ...whole(descriptionOf(STORED_WEBHOOK.createdBy)),
    examples: [STORED_WEBHOOK.createdBy.example],
  },
  createdAt: instantSchema('When the webhook was created'),
  lastDeliveryAt: instantSchema('When the receiver last took a message that is no test'),
  lastError: text(
    'Why the newest message was not taken, tests aside, or why the service paused the webhook; absent since the receiver last took one.',
  ),
};

/** `secret` is shown by the responses alone that make one. */
const FROM_TABLE = fromFieldTable<Webhook>(WEBHOOK, [...Object.keys(READ_ONLY_FIELDS), 'secret']);

/** The definition of webhooks. Responses never show a stored secret, and lists cannot be filtered by it. */
export const WEBHOOKS: ResourceDefinition<ShownWebhook> = {
  path: 'webhooks',
  version: 1,
  readScope: 'webhooks:admin',
  writeScope: 'webhooks:admin',
  docs: {
    name: 'Webhook',
    singular: 'a webhook',
    plural: 'webhooks',
    description:
      'Receivers to which the service reports changes, by messages as Standard Webhooks 1.0.0 describes them. A message names the records that changed, and the address of the feed behind these changes. Each change is reported at least once.',
    schemaNames: { resources: 'WebhookResource', status: 'WebhookStatus' },
  },
  readOnlyFields: READ_ONLY_FIELDS,
  shownValues: { status: ['active', 'failing', 'paused'] },
  alwaysPresent: ['status', 'createdBy', 'createdAt'],
  secret: {
    name: 'secret',
    schema: text('The secret that signs the messages, shown only in the response that makes it.', {
      pattern: '^whsec_[A-Za-z0-9+/=]+$',
    }),
    example: 'whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY=',
  },
  ...FROM_TABLE,
  fields: { ...FROM_TABLE.fields, ...indexedFields({ createdBy: STORED_WEBHOOK.createdBy }) },
  present: presentWebhook,
  // Responses show the last delivery too, so the strong tag must differ with it (RFC 9110 section 8.8.1).
  tagState: {
    of: (webhook) => {
      const { lastDeliveryAt, lastError } = webhook.fields.state ?? {};
      const status = statusOf(webhook.fields, webhook.fields.state);
      if (status !== 'failing' && lastDeliveryAt === undefined && lastError === undefined) return '';
      return `.${sha256(JSON.stringify([status, lastDeliveryAt, lastError]))}`;
    },
    pattern: '(?:\\.[A-Za-z0-9_-]+)?',
  },
};

/** How clients edit a webhook: the fields that they may send. */
export const EDITED_WEBHOOKS: RecordFormat<Webhook> = FROM_TABLE;

function presentWebhook(webhook: Versioned<ShownWebhook>) {
  const { id, createdAt, fields } = webhook;
  const { name, url, resources, createdBy, state, newSecret } = fields;
  return {
    id,
    name,
    url,
    resources,
    status: statusOf(fields, state),
    createdBy,
    createdAt: instantText(createdAt),
    lastDeliveryAt: instantText(state?.lastDeliveryAt),
    lastError: state?.lastError,
    secret: newSecret,
  };
}

/** Returns an attempt as responses show it. Receivers send any three digits: RFC 9110 section 15 knows 100 to 599. */
export function presentAttempt({ at, status, ...rest }: DeliveryAttempt) {
  const isStatus = status !== undefined && status >= 100 && status <= 599;
  const error = status === undefined || isStatus ? undefined : `The receiver responded with ${status}`;
  return { at: instantText(at), ...rest, ...(isStatus && { status }), ...(error && { error }) };
}

export const ATTEMPT_SCHEMA: JsonSchema = open(
  {
    at: instantSchema('When the message was sent'),
    type: text('The type of the message: `products.changed`, `products.resync`, `webhook.test` and others.', {
      examples: ['products.changed'],
    }),
    changes: whole('The number of changes in the message.', 0, 100),
    status: whole('The status of the response. 2xx takes the message.', 100, 599),
    error: text('Why there was no response, or none with a status of HTTP.'),
  },
  ['at', 'type', 'changes'],
);

/** The routes of webhooks, and of their secrets and deliveries. */
export function webhookRoutes(
  resource: ResourceDefinition<ShownWebhook>,
  service: WebhookService,
  policy: ResourcePolicy<Webhook>,
): Route[] {
  const operations = new ResourceOperations<ShownWebhook>(resource, service.webhooks, policy);
  const list: Operation = { ...operations.list(), ...listOperation(resource, service, policy) };
  const attempts: Operation = {
    purpose: operations.purpose('attempts'),
    scopes: [resource.readScope],
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
  const register = operations.creation('register', async (ctx) => {
    const { body } = ctx.request;
    const creation = { draft: service.webhooks.draft(body), idempotency: idempotencyOf(ctx, body) };
    const created = await service.createFor(ctx.state.principal, creation);
    operations.setCreationHeaders(ctx, created);
    operations.respondToWrite(ctx, 201, created.record);
  });
  return routesOf(resource, {
    '': { GET: list, POST: register },
    '/{id}': {
      GET: operations.read((ctx) => service.read(idOf(ctx))),
      PATCH: revise,
      DELETE: operations.remove((ctx, precondition) => service.remove(idOf(ctx), precondition)),
    },
    '/{id}/secret': {
      POST: operations.act('renew', (ctx, precondition) =>
        service.renewSecretFor(ctx.state.principal, idOf(ctx), precondition),
      ),
    },
    '/{id}/deliveries': { GET: attempts, POST: test },
  });
}
