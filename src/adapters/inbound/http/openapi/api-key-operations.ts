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
    summary: 'Make an API key',
    text: 'The answer shows the key, this once. Under an `Idempotency-Key` a repetition makes no second key, and does not show the first one again. No key gives out a scope that it lacks.',
    schemas: { ...schemas, IssuedApiKey: issuedSchema(resource) },
    headers: headers.filter((name) => name === 'IdempotencyKey'),
    bodies: json,
    answers: [
      { ...created, description: 'The key, whole whatever is preferred.', links: { read, delete: revoke } },
    ],
  };
}
