import { tagOf } from '../core/description.js';
import { type JsonSchema, schemaRef } from '../core/json-schema.js';
import { JSON_PATCH, JSON_TYPE } from '../core/media-types.js';
import { ATTEMPT_SCHEMA } from '../resources/webhooks.js';
import type { OpenApiResource } from './openapi-resource.js';
import type { OperationDescription } from './operation-description.js';
import {
  CONDITIONS,
  conditionErrors,
  createDescription,
  creationResponse,
  patchDescription,
} from './resource-descriptions.js';
import { issuedName, issuedSchemas } from './resource-schemas.js';

const ATTEMPT = { schema: schemaRef('WebhookDelivery') };
const ATTEMPT_SCHEMAS: Readonly<Record<string, JsonSchema>> = { WebhookDelivery: ATTEMPT_SCHEMA };
const ATTEMPT_EXAMPLE = { at: '2026-01-31T12:00:00.000Z', type: 'products.changed', changes: 3, status: 204 };

/** The creation of a webhook, whose response has its secret. */
export function registerDescription(resource: OpenApiResource): OperationDescription {
  const { links, ...created } = creationResponse(resource, issued(resource));
  const { read, change, delete: remove } = links;
  const { errors = [], ...creation } = createDescription(resource);
  return {
    ...creation,
    text: 'Only this response shows the secret that signs the messages. With an `Idempotency-Key`, a repeated request creates no second webhook, and does not show the secret again. The credential needs the scope of reading for each of `resources`, and must be an API key or an access token that was issued for one: the webhook sends only while this key is valid. A key makes at most 100 webhooks, and a store has at most 1,000.',
    schemas: { ...resource.schemas('input'), ...issuedSchemas(resource.definition) },
    responses: [{ ...created, description: 'The new webhook.', links: { read, change, delete: remove } }],
    errors: [...errors, 'limit_reached'],
  };
}

/** A patch of a webhook, whose response has a new secret if the URL is another one. */
export function reviseDescription(
  resource: OpenApiResource,
  patchTypes: readonly string[],
): OperationDescription {
  const { text, schemas, responses, errors = [], ...patch } = patchDescription(resource, patchTypes);
  const [response] = responses;
  if (!response) throw new Error('A patch has no response.');
  return {
    ...patch,
    text: `${text} Another \`url\` or other \`resources\` need what a creation needs, and make the API key of the request \`createdBy\`. Another \`url\` gets a new secret, which only this response shows. A change ends the wait before the next attempt.`,
    schemas: { ...schemas, ...issuedSchemas(resource.definition) },
    responses: [
      { ...response, sharedAs: 'IssuedWebhookResponse', content: { [JSON_TYPE]: issued(resource) } },
    ],
    errors: [...errors, 'limit_reached'],
    bodies: {
      ...patch.bodies,
      [JSON_PATCH]: {
        schema: schemaRef('JsonPatch'),
        example: [{ op: 'replace', path: '/status', value: 'active' }],
      },
    },
  };
}

export function renewDescription(resource: OpenApiResource): OperationDescription {
  const { docs, definition } = resource;
  return {
    tag: tagOf(docs),
    headers: CONDITIONS,
    id: `renew${docs.name}Secret`,
    summary: 'Make a new secret of a webhook',
    text: "Messages are signed with the new secret at once, and with the old one too for 24 hours. Only this response shows the new secret. The credential needs the scope of reading for each of the webhook's `resources`.",
    schemas: issuedSchemas(definition),
    responses: [
      {
        status: 200,
        description: 'The webhook with its new secret.',
        headers: ['ETag'],
        content: { [JSON_TYPE]: issued(resource) },
      },
    ],
    errors: conditionErrors(resource),
  };
}

export function attemptsDescription({ docs }: OpenApiResource): OperationDescription {
  return {
    tag: tagOf(docs),
    id: `list${docs.name}Deliveries`,
    summary: 'List the last deliveries of a webhook',
    text: 'The last 20 attempts to send a message, the newest first.',
    schemas: ATTEMPT_SCHEMAS,
    responses: [
      {
        status: 200,
        description: 'The attempts.',
        content: {
          [JSON_TYPE]: {
            schema: { type: 'array', maxItems: 20, items: ATTEMPT.schema },
            example: [ATTEMPT_EXAMPLE],
          },
        },
      },
    ],
  };
}

export function testDescription({ docs }: OpenApiResource): OperationDescription {
  return {
    tag: tagOf(docs),
    id: `test${docs.name}`,
    summary: 'Send a test message',
    text: 'Sends one message of the type `webhook.test`, also if the webhook is paused, and responds with its outcome, usually within 10 seconds and always within 20. If the service itself has no look-up or connection left for it, nothing is sent, and the response is 503.',
    schemas: ATTEMPT_SCHEMAS,
    responses: [
      {
        status: 201,
        description: 'The outcome.',
        content: {
          [JSON_TYPE]: { ...ATTEMPT, example: { ...ATTEMPT_EXAMPLE, type: 'webhook.test', changes: 0 } },
        },
      },
    ],
  };
}

function issued({ definition }: OpenApiResource) {
  return { schema: schemaRef(issuedName(definition)) };
}
