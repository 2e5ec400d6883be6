import { presentApiKey } from '../../../../application/auth/key-administration.js';
import { API_KEY, type ApiKey } from '../../../../domain/access.js';
import { parseInstant } from '../../../../domain/instant.js';
import { bodyValidator, readOnlyField } from '../body/validate-body.js';
import { fromFieldTable, type ResourceDefinition } from './resource-definition.js';

const { digest: _secret, lastUsedAt: _readOnly, ...SENDABLE_FIELDS } = API_KEY;
const FROM_TABLE = fromFieldTable<ApiKey>(SENDABLE_FIELDS);
const SCHEMA = FROM_TABLE.schema.keys({ lastUsedAt: readOnlyField() });
/** A new key must not have the field `key`, which only the service sets. */
const NEW_SCHEMA = SCHEMA.keys({ key: readOnlyField() });

const MINUTE_MS = 60_000;

/** The definition of API keys. Responses never show the digest, and lists cannot be filtered by it. */
export const API_KEYS: ResourceDefinition<ApiKey> = {
  path: 'api-keys',
  version: 1,
  readScope: 'keys:admin',
  writeScope: 'keys:admin',
  docs: {
    name: 'ApiKey',
    singular: 'an API key',
    plural: 'API keys',
    description:
      'Credentials for programs. A key is shown once, when it is created. It cannot be changed; to revoke it, delete it.',
    example: { name: 'web shop', scopes: ['products:read'], expiresAt: '2099-01-31T00:00:00.000Z' },
    schemaNames: { scopes: 'Scope' },
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
  ...FROM_TABLE,
  schema: SCHEMA,
  validate: bodyValidator(NEW_SCHEMA),
  present: presentApiKey,
  // Stores keep whole milliseconds.
  toFields: ({ expiresAt, ...rest }) => {
    const at = typeof expiresAt === 'string' ? parseInstant(expiresAt) : undefined;
    return { ...rest, ...(at !== undefined && { expiresAt: Math.floor(at) }) };
  },
  // Responses show the last use, so the strong tag must contain it (RFC 9110 section 8.8.1).
  tagState: {
    of: ({ version, fields: { lastUsedAt } }) =>
      lastUsedAt === undefined ? version : `${version}@${lastUsedAt / MINUTE_MS}`,
    pattern: '([1-9][0-9]*)(?:@[0-9]+)?',
  },
};
