import type { ApiKey } from '../../../../domain/access.js';
import type { ResourceDescription } from '../resource-description.js';
import { type OperationDescription, schemaRef } from './description.js';
import type { ResourceOperations } from './resource-operations.js';
import { issuedSchema } from './resource-schemas.js';

/** What is said of making a key, which is as creation elsewhere but for the secret. */
export function describedIssuance(
  resource: ResourceDescription<ApiKey>,
  usual: ResourceOperations<ApiKey>,
): OperationDescription {
  const { bodies = {}, schemas, headers = [], ...creation } = usual.creation();
  const { 'application/x-ndjson': _lines, ...json } = bodies;
  const { links, ...created } = usual.created({ schema: schemaRef('IssuedApiKey') });
  const { read, delete: revoke } = links;
  return {
    ...creation,
    summary: 'Create an API key',
    text: 'Only this response shows the key itself. With an `Idempotency-Key`, a repeated request creates no second key, and does not show the first one again. The new key can have only scopes that the credential of the request has.',
    schemas: { ...schemas, IssuedApiKey: issuedSchema(resource) },
    headers: headers.filter((name) => name === 'IdempotencyKey'),
    bodies: json,
    answers: [
      {
        ...created,
        headers: created.headers.filter((name) => name !== 'Preference-Applied'),
        description: 'The new key, in full even with `Prefer: return=minimal`.',
        links: { read, delete: revoke },
      },
    ],
  };
}
