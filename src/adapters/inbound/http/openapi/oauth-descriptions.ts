import { API_KEY, SCOPES } from '../../../../domain/access.js';
import { descriptionOf } from '../../../../domain/rules.js';
import { EXAMPLE_KEY } from '../../../../shared/api-key-format.js';
import {
  integerSchema,
  type JsonSchema,
  open,
  type Properties,
  schemaRef,
  TEXT,
} from '../core/json-schema.js';
import { FORM, JSON_TYPE } from '../core/media-types.js';
import type { OperationDescription } from './operation-description.js';

const TAG = 'OAuth 2.0';
const URL_TEXT: JsonSchema = { type: 'string', format: 'uri' };
const SCOPE: JsonSchema = {
  type: 'string',
  enum: SCOPES,
  description: descriptionOf(API_KEY.scopes.of),
};
const SCOPE_ARRAY: JsonSchema = { type: 'array', maxItems: SCOPES.length, items: schemaRef('Scope') };
/** More elements than any of these lists has. */
const MAX_ITEMS = 100;
const TEXT_ARRAY = arrayOf(TEXT);
const SCOPE_LIST = 'Scopes, separated by spaces.';

function meaning(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}

function arrayOf(items: JsonSchema): JsonSchema {
  return { type: 'array', maxItems: MAX_ITEMS, items };
}

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
  tag: TAG,
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

export const ISSUER_METADATA = metadataDescription('getIssuerMetadata', {
  summary: 'Read the metadata of the authorization server (RFC 8414)',
  text: 'What OAuth 2.0 clients discover about `/oauth/token`.',
  name: 'IssuerMetadata',
  members: {
    issuer: meaning(URL_TEXT, 'The `iss` of every token.'),
    token_endpoint: meaning(URL_TEXT, 'The URL that grants tokens.'),
    jwks_uri: meaning(URL_TEXT, 'The URL of the public keys.'),
    scopes_supported: meaning(SCOPE_ARRAY, 'The scopes that a token can have.'),
    response_types_supported: meaning(TEXT_ARRAY, 'Empty: there is no authorization endpoint.'),
    grant_types_supported: meaning(TEXT_ARRAY, 'The grants of the token endpoint.'),
    token_endpoint_auth_methods_supported: meaning(TEXT_ARRAY, 'How a client sends its secret.'),
  },
});

export const RESOURCE_METADATA = metadataDescription('getResourceMetadata', {
  summary: 'Read the metadata of the protected resource (RFC 9728)',
  text: 'From which issuers access tokens are accepted, and with which scopes.',
  name: 'ResourceMetadata',
  members: {
    resource: meaning(URL_TEXT, 'The `aud` of every token.'),
    authorization_servers: meaning(arrayOf(URL_TEXT), 'The issuers whose tokens are accepted.'),
    scopes_supported: meaning(SCOPE_ARRAY, 'The scopes that operations ask for.'),
    bearer_methods_supported: meaning(TEXT_ARRAY, 'Where a token is sent: in the header `Authorization`.'),
    resource_name: meaning(TEXT, 'The name of the service, for people.'),
  },
});

export const KEYS = metadataDescription('getKeys', {
  summary: 'Read the public keys that verify access tokens (RFC 7517)',
  text: 'A JSON Web Key Set. Keys change; the header `kid` of a token names its key.',
  name: 'KeySet',
  members: {
    keys: meaning(
      arrayOf(
        open({
          kty: meaning(TEXT, 'The type of the key.'),
          kid: meaning(TEXT, 'The id of the key, which tokens name.'),
          alg: meaning(TEXT, 'The algorithm of its signatures.'),
          use: meaning(TEXT, 'What it is for: signatures.'),
          n: meaning(TEXT, 'The modulus, in base64url.'),
          e: meaning(TEXT, 'The exponent, in base64url.'),
        }),
      ),
      'The keys.',
    ),
  },
});

interface MetadataDocument {
  readonly summary: string;
  readonly text: string;
  readonly name: string;
  readonly members: Properties;
}

function metadataDescription(
  id: string,
  { summary, text, name, members }: MetadataDocument,
): OperationDescription {
  return {
    id,
    tag: TAG,
    summary,
    text,
    schemas: { [name]: open(members), ...('scopes_supported' in members && { Scope: SCOPE }) },
    responses: [
      {
        status: 200,
        description: 'The document.',
        content: { [JSON_TYPE]: { schema: schemaRef(name) } },
      },
    ],
  };
}
