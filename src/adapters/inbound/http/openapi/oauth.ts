import { SCOPES } from '../../../../domain/access.js';
import type { OperationDescription } from './description.js';
import { type JsonSchema, schemaRef } from './json-schema.js';

const TAG = 'OAuth 2.0';
const TEXT: JsonSchema = { type: 'string' };
const URL_TEXT: JsonSchema = { type: 'string', format: 'uri' };
const TEXT_LIST: JsonSchema = { type: 'array', items: TEXT };
const SCOPE_LIST = 'Scopes, separated by spaces.';

function open(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties) };
}

const TOKEN_REQUEST: JsonSchema = {
  type: 'object',
  properties: {
    grant_type: { type: 'string', enum: ['client_credentials'] },
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
  // Unknown parameters are ignored, but none may be repeated (RFC 6749 section 3.2), as a list would be.
  additionalProperties: { type: 'string' },
  maxProperties: 100,
};

const TOKEN_RESPONSE: JsonSchema = {
  ...open({
    access_token: { type: 'string', description: 'A JWT (RFC 9068), to be sent as `Authorization: Bearer`.' },
    token_type: { type: 'string', enum: ['Bearer'] },
    expires_in: { type: 'integer', minimum: 1, description: 'The lifetime of the token, in seconds.' },
    scope: { type: 'string', description: SCOPE_LIST },
  }),
  additionalProperties: false,
};

export const TOKEN_DESCRIPTION: OperationDescription = {
  id: 'createToken',
  tag: TAG,
  summary: 'Get an access token',
  text: 'The client credentials grant (RFC 6749 section 4.4). The client is an API key: send its id and the key itself, by HTTP Basic authentication or in the body. Errors have the members of RFC 6749 section 5.2 and those that every error has.',
  security: [{ client: [] }, {}],
  schemas: { TokenRequest: TOKEN_REQUEST, TokenAnswer: TOKEN_RESPONSE },
  bodies: {
    'application/x-www-form-urlencoded': {
      schema: schemaRef('TokenRequest'),
      examples: {
        some: {
          summary: 'With HTTP Basic authentication',
          value: { grant_type: 'client_credentials', scope: 'products:read' },
        },
      },
    },
  },
  responses: [
    {
      status: 200,
      description: 'The token.',
      headers: ['Pragma'],
      content: {
        'application/json': {
          schema: schemaRef('TokenAnswer'),
          examples: {
            some: {
              summary: 'A token for ten minutes',
              value: {
                access_token: 'eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCJ9.…',
                token_type: 'Bearer',
                expires_in: 600,
                scope: 'products:read',
              },
            },
          },
        },
      },
    },
  ],
  errors: ['validation_failed', 'unauthenticated', 'invalid_token', 'token_expired'],
  errorShape: 'OAuthError',
  errorHeaders: ['Pragma'],
};

export const ISSUER_METADATA_DESCRIPTION = metadataDescription('getIssuerMetadata', {
  summary: 'Read the metadata of the authorization server (RFC 8414)',
  name: 'IssuerMetadata',
  schema: open({
    issuer: URL_TEXT,
    token_endpoint: URL_TEXT,
    jwks_uri: URL_TEXT,
    scopes_supported: { type: 'array', items: { type: 'string', enum: SCOPES } },
    response_types_supported: TEXT_LIST,
    grant_types_supported: TEXT_LIST,
    token_endpoint_auth_methods_supported: TEXT_LIST,
  }),
});

export const RESOURCE_METADATA_DESCRIPTION = metadataDescription('getResourceMetadata', {
  summary: 'Read the metadata of the protected resource (RFC 9728)',
  name: 'ResourceMetadata',
  schema: open({
    resource: URL_TEXT,
    authorization_servers: { type: 'array', items: URL_TEXT },
    scopes_supported: { type: 'array', items: { type: 'string', enum: SCOPES } },
    bearer_methods_supported: TEXT_LIST,
    resource_name: TEXT,
  }),
});

export const KEYS_DESCRIPTION = metadataDescription('getKeys', {
  summary: 'Read the public keys that verify access tokens (RFC 7517)',
  name: 'KeySet',
  schema: open({
    keys: {
      type: 'array',
      items: open({ kty: TEXT, kid: TEXT, alg: TEXT, use: TEXT, n: TEXT, e: TEXT }),
    },
  }),
});

interface Document {
  readonly summary: string;
  readonly name: string;
  readonly schema: JsonSchema;
}

function metadataDescription(id: string, { summary, name, schema }: Document): OperationDescription {
  return {
    id,
    tag: TAG,
    summary,
    headers: ['AcceptEncoding'],
    schemas: { [name]: schema },
    responses: [
      {
        status: 200,
        description: 'The document.',
        headers: ['Content-Encoding'],
        content: { 'application/json': { schema: schemaRef(name) } },
      },
    ],
  };
}
