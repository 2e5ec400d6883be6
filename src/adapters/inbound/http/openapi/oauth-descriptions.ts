import { EXAMPLE_KEY } from '../../../../shared/api-key-format.js';
import { integerSchema, type JsonSchema, open, schemaRef } from '../core/json-schema.js';
import { FORM, JSON_TYPE } from '../core/media-types.js';
import type { OperationDescription } from './operation-description.js';

const SCOPE_LIST = 'Scopes, separated by spaces.';

const TOKEN_REQUEST: JsonSchema = {
  type: 'object',
  properties: {
    grant_type: {
      type: 'string',
      enum: ['client_credentials'],
      description: 'The client is an API key (RFC 6749 section 4.4).',
    },
    scope: {
      type: 'string',
      description: `${SCOPE_LIST} The API key must have each of them. By default, all scopes of the key.`,
    },
    client_id: {
      type: 'string',
      description: 'The id of an API key, unless the header `Authorization` is used.',
    },
    client_secret: { type: 'string', description: 'The API key itself.' },
  },
  required: ['grant_type'],
  // Others are ignored. Some generators stop at a schema for them.
  maxProperties: 100,
};

const TOKEN_RESPONSE = open({
  access_token: { type: 'string', description: 'A JWT (RFC 9068), to be sent as `Authorization: Bearer`.' },
  token_type: { type: 'string', description: 'Always `Bearer`.' },
  expires_in: { ...integerSchema(1, 86_400), description: 'The lifetime of the token, in seconds.' },
  scope: { type: 'string', description: SCOPE_LIST },
});

export const TOKEN: OperationDescription = {
  id: 'createToken',
  tag: 'OAuth 2.0',
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
  errors: ['validation_failed', 'unauthenticated', 'invalid_token', 'token_expired'],
};
