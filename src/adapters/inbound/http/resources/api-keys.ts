import Joi from 'joi';
import { presentApiKey } from '../../../../application/auth/key-administration.js';
import {
  API_KEY_FIELDS,
  type ApiKey,
  repeatedScopes,
  SCOPE_COUNT,
  SCOPES,
} from '../../../../domain/access.js';
import { NAME } from '../../../../domain/text.js';
import { givenByService, instant, list, oneOf, text } from '../bodies/schema.js';
import type { ResourceDescription } from '../resource-description.js';

/** The digest is in no answer and no list can be asked for it. */
export const API_KEYS: ResourceDescription<ApiKey> = {
  path: 'api-keys',
  version: 1,
  readScope: 'keys:admin',
  writeScope: 'keys:admin',
  words: {
    name: 'ApiKey',
    one: 'an API key',
    many: 'API keys',
    about:
      'Credentials for programs. A key is shown once, when it is created. It cannot be changed; to revoke it, delete it.',
    example: { name: 'web shop', scopes: ['products:read'], expiresAt: '2099-01-31T00:00:00.000Z' },
  },
  given: {
    createdAt: { type: 'string', format: 'date-time' },
    lastUsedAt: {
      type: 'string',
      format: 'date-time',
      description: 'When the key was last used, to the minute.',
    },
  },
  alwaysGiven: ['createdAt'],
  fields: { name: API_KEY_FIELDS.name },
  schema: Joi.object({
    name: text(NAME).required(),
    scopes: list(oneOf(SCOPES), SCOPE_COUNT, repeatedScopes).required(),
    expiresAt: instant(),
    lastUsedAt: givenByService(),
  }),
  present: presentApiKey,
};

/** For creating one: what the answer shows this once can no more be sent than the rest of what the service gives. */
export const NEW_API_KEY: ResourceDescription<ApiKey> = {
  ...API_KEYS,
  schema: API_KEYS.schema.keys({ key: givenByService() }),
};
