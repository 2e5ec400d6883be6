import { presentApiKey } from '../../../../application/auth/key-administration.js';
import { API_KEY, type ApiKey } from '../../../../domain/access.js';
import { parseInstant } from '../../../../domain/instant.js';
import { readOnlyField, validateBody } from '../body/validate-body.js';
import { describedBy, type ResourceDefinition } from './resource-definition.js';

const { digest: _secret, lastUsedAt: _given, ...SENT } = API_KEY;
const SENT_DESCRIPTION = describedBy<ApiKey>(SENT);
const SCHEMA = SENT_DESCRIPTION.schema.keys({ lastUsedAt: readOnlyField() });
/** The response to a creation shows the key itself, which no client can choose. */
const NEW_SCHEMA = SCHEMA.keys({ key: readOnlyField() });

const MINUTE_MS = 60_000;

/** The digest is in no response, and lists cannot be filtered by it. */
export const API_KEYS: ResourceDefinition<ApiKey> = {
  path: 'api-keys',
  version: 1,
  readScope: 'keys:admin',
  writeScope: 'keys:admin',
  docs: {
    name: 'ApiKey',
    one: 'an API key',
    many: 'API keys',
    about:
      'Credentials for programs. A key is shown once, when it is created. It cannot be changed; to revoke it, delete it.',
    example: { name: 'web shop', scopes: ['products:read'], expiresAt: '2099-01-31T00:00:00.000Z' },
  },
  readOnlyFields: {
    createdAt: { type: 'string', format: 'date-time' },
    lastUsedAt: {
      type: 'string',
      format: 'date-time',
      description: 'When the key was last used, to the minute.',
    },
  },
  alwaysPresent: ['createdAt'],
  ...SENT_DESCRIPTION,
  schema: SCHEMA,
  validate: (sent) => validateBody(NEW_SCHEMA, sent),
  present: presentApiKey,
  // Stores keep whole milliseconds.
  toFields: ({ expiresAt, ...rest }) => {
    const at = typeof expiresAt === 'string' ? parseInstant(expiresAt) : undefined;
    return { ...rest, ...(at !== undefined && { expiresAt: Math.floor(at) }) };
  },
  // The last use is shown, so two responses that differ in it have two strong tags (RFC 9110 section 8.8.1).
  tagState: {
    of: ({ version, fields: { lastUsedAt } }) =>
      lastUsedAt === undefined ? version : `${version}@${lastUsedAt / MINUTE_MS}`,
    pattern: '([1-9][0-9]*)(?:@[0-9]+)?',
  },
};
