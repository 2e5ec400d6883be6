import { EXAMPLE_KEY } from '../../../../shared/api-key-format.js';
import { type JsonSchema, open, schemaRef, text, whole } from '../core/json-schema.js';
import { FORM, JSON_PATCH, JSON_TYPE } from '../core/media-types.js';
import {
  CONDITIONS,
  conditionErrors,
  createDescription,
  creationResponse,
  deleteDescription,
  type OpenApiResource,
  type OperationDescription,
  patchDescription,
} from './resource-descriptions.js';
import { issuedName } from './schemas.js';

/** Like {@link createDescription}, but with the secret in the response. */
export function issueDescription(resource: OpenApiResource): OperationDescription {
  const { links, ...created } = creationResponse(resource, issued(resource));
  const { read, delete: revoke } = links;
  return {
    ...createDescription(resource),
    text: 'Only this response shows the key itself. With an `Idempotency-Key`, a repeated request creates no second key, and does not show the first one again. The new key can have only scopes that the credential of the request has, and does not outlive it: by default it expires when the key of the request does, and within 90 days if a token of another issuer makes it.',
    responses: [{ ...created, description: 'The new key.', links: { read, delete: revoke } }],
  };
}

export function revokeDescription(resource: OpenApiResource): OperationDescription {
  const { errors = [], text, ...deletion } = deleteDescription(resource);
  return {
    ...deletion,
    text: `${text} The key is refused at once by the process that responds, and within five seconds by all others. The last key with \`keys:admin\` that has not expired stays.`,
    errors: [...errors, 'last_admin_key'],
  };
}

const ATTEMPT = schemaRef('WebhookDelivery');
const ATTEMPT_EXAMPLE = { at: '2026-01-31T12:00:00.000Z', type: 'products.changed', changes: 3, status: 204 };

/** The creation of a webhook, whose response has its secret. */
export function registerDescription(resource: OpenApiResource): OperationDescription {
  const { links, ...created } = creationResponse(resource, issued(resource));
  const { read, change, delete: remove } = links;
  const { errors = [], ...creation } = createDescription(resource);
  return {
    ...creation,
    text: 'Only this response shows the secret that signs the messages. With an `Idempotency-Key`, a repeated request creates no second webhook, and does not show the secret again. The credential needs the scope of reading for each of `resources`, and must be an API key or an access token that was issued for one: the webhook sends only while this key is valid. A key makes at most 100 webhooks, and a store has at most 1,000.',
    responses: [{ ...created, description: 'The new webhook.', links: { read, change, delete: remove } }],
    errors: [...errors, 'limit_reached'],
  };
}

/** A patch of a webhook, whose response has a new secret if the URL is another one. */
export function reviseDescription(resource: OpenApiResource, patchTypes: readonly string[]): OperationDescription {
  const { text, responses, errors = [], ...patch } = patchDescription(resource, patchTypes);
  const [response] = responses;
  if (!response) throw new Error('A patch has no response.');
  return {
    ...patch,
    text: `${text} Another \`url\` or other \`resources\` need what a creation needs, and make the API key of the request \`createdBy\`. Another \`url\` gets a new secret, which only this response shows. A change ends the wait before the next attempt.`,
    responses: [{ ...response, sharedAs: 'IssuedWebhookResponse', content: { [JSON_TYPE]: issued(resource) } }],
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
  const { docs } = resource;
  return {
    headers: CONDITIONS,
    id: `renew${docs.name}Secret`,
    summary: 'Make a new secret of a webhook',
    text: "Messages are signed with the new secret at once, and with the old one too for 24 hours. Only this response shows the new secret. The credential needs the scope of reading for each of the webhook's `resources`.",
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
    id: `list${docs.name}Deliveries`,
    summary: 'List the last deliveries of a webhook',
    text: 'The last 20 attempts to send a message, the newest first.',
    responses: [
      {
        status: 200,
        description: 'The attempts.',
        content: {
          [JSON_TYPE]: {
            schema: { type: 'array', maxItems: 20, items: ATTEMPT },
            example: [ATTEMPT_EXAMPLE],
          },
        },
      },
    ],
  };
}

export function testDescription({ docs }: OpenApiResource): OperationDescription {
  return {
    id: `test${docs.name}`,
    summary: 'Send a test message',
    text: 'Sends one message of the type `webhook.test`, also if the webhook is paused, and responds with its outcome, usually within 10 seconds and always within 20. If the service itself has no look-up or connection left for it, nothing is sent, and the response is 503.',
    responses: [
      {
        status: 201,
        description: 'The outcome.',
        content: {
          [JSON_TYPE]: { schema: ATTEMPT, example: { ...ATTEMPT_EXAMPLE, type: 'webhook.test', changes: 0 } },
        },
      },
    ],
  };
}

function issued({ definition }: OpenApiResource) {
  return { schema: schemaRef(issuedName(definition)) };
}

const SCOPE_LIST = 'Scopes, separated by spaces.';

const TOKEN_REQUEST: JsonSchema = {
  type: 'object',
  properties: {
    grant_type: text('The client is an API key (RFC 6749 section 4.4).', { enum: ['client_credentials'] }),
    scope: text(`${SCOPE_LIST} The API key must have each of them. By default, all scopes of the key.`),
    client_id: text('The id of an API key, unless the header `Authorization` is used.'),
    client_secret: text('The API key itself.'),
  },
  required: ['grant_type'],
  // Others are ignored. Some generators stop at a schema for them.
  maxProperties: 100,
};

const TOKEN_RESPONSE = open({
  access_token: text('A JWT (RFC 9068), to be sent as `Authorization: Bearer`.'),
  token_type: text('Always `Bearer`.'),
  expires_in: whole('The lifetime of the token, in seconds.', 1, 86_400),
  scope: text(SCOPE_LIST),
});

/** The token endpoint, with its schemas. */
export const TOKEN: OperationDescription & { readonly schemas: Readonly<Record<string, JsonSchema>> } = {
  id: 'createToken',
  summary: 'Get an access token',
  text: 'The client credentials grant (RFC 6749 section 4.4). The client is an API key: its id is the client id, and the key itself is the secret. Send both in the body, as described here, or leave them out of it and send them by HTTP Basic authentication. Errors also have the members `error` and `error_description` of RFC 6749 section 5.2.',
  schemas: { TokenRequest: TOKEN_REQUEST, Token: TOKEN_RESPONSE },
  bodies: {
    [FORM]: {
      schema: schemaRef('TokenRequest'),
      example: {
        grant_type: 'client_credentials',
        client_id: '1',
        client_secret: EXAMPLE_KEY,
        scope: 'products:read',
      },
    },
  },
  responses: [
    {
      status: 200,
      description: 'The token.',
      content: {
        [JSON_TYPE]: {
          schema: schemaRef('Token'),
          example: {
            access_token: 'eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCJ9.…',
            token_type: 'Bearer',
            expires_in: 600,
            scope: 'products:read',
          },
        },
      },
    },
  ],
  errors: ['validation_failed'],
};
