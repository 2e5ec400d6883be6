import type { ApiKey } from '../../../../domain/access.js';
import type { DescribedResource } from './described-resource.js';
import { creationAnswer, describedCreation, describedDeletion } from './described-writes.js';
import { type OperationDescription, schemaRef } from './description.js';
import { issuedSchema } from './resource-schemas.js';

/** What is said of making a key, which is as creation elsewhere but for the secret. */
export function describedIssuance(resource: DescribedResource<ApiKey>): OperationDescription {
  const { bodies = {}, schemas, headers = [], ...creation } = describedCreation(resource);
  const { 'application/x-ndjson': _lines, ...json } = bodies;
  const { links, ...created } = creationAnswer(resource, { schema: schemaRef('IssuedApiKey') });
  const { read, delete: revoke } = links;
  return {
    ...creation,
    summary: 'Create an API key',
    text: 'Only this response shows the key itself. With an `Idempotency-Key`, a repeated request creates no second key, and does not show the first one again. The new key can have only scopes that the credential of the request has.',
    schemas: { ...schemas, IssuedApiKey: issuedSchema(resource.description) },
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

export function describedRevocation(resource: DescribedResource<ApiKey>): OperationDescription {
  const { errors = [], text, ...deletion } = describedDeletion(resource);
  return {
    ...deletion,
    text: `${text} The key is refused at once by the process that responds, and within five seconds by all others. The last key with \`keys:admin\` that has not expired stays.`,
    errors: [...errors, 'last_admin_key'],
  };
}
