import { LINES } from '../lists/ndjson.js';
import type { ResponseErrorCode } from '../response/error-codes.js';
import type { DescribedResource } from './described-resource.js';
import {
  type AnswerDescription,
  type ContentDescription,
  linesOf,
  type OperationDescription,
  schemaRef,
} from './description.js';
import { IMPORT_RESULT_SCHEMA, JSON_PATCH_SCHEMA } from './resource-schemas.js';

const JSON_TYPE = 'application/json';

export function describedCreation<Fields>(resource: DescribedResource<Fields>): OperationDescription {
  const { words } = resource;
  return {
    ...resource.about(),
    schemas: { ...resource.about('whole', 'fresh').schemas, ImportResult: IMPORT_RESULT_SCHEMA },
    id: `create${words.name}`,
    summary: `Create ${words.one}, or import many`,
    text: 'A JSON body creates one record. A body of type `application/x-ndjson` is an import: each line creates a record, and the response has a result for each line, in the same order. A bad line does not stop the others. With an `Idempotency-Key`, either can be sent again after any failure, and nothing is created twice.',
    headers: ['IdempotencyKey', 'PreferMinimal', 'AcceptEncoding'],
    bodies: {
      [JSON_TYPE]: resource.body(resource.names.fresh),
      [LINES]: { schema: linesOf(schemaRef(resource.names.fresh)) },
    },
    answers: [
      {
        status: 200,
        description: 'An import: the result of each line.',
        headers: ['Content-Encoding'],
        content: { [LINES]: { schema: linesOf(schemaRef('ImportResult')) } },
      },
      creationAnswer(resource, { schema: schemaRef(resource.names.whole), examples: resource.examples() }),
    ],
    errors: [
      'malformed_json',
      'validation_failed',
      ...resource.conflicts,
      'invalid_idempotency_key',
      'idempotency_key_reused',
    ],
  };
}

/** @param content of the answer */
export function creationAnswer<Fields>(resource: DescribedResource<Fields>, content: ContentDescription) {
  const { name } = resource.words;
  const parameters = { id: '$response.body#/id' };
  const seen = { ...parameters, 'If-Match': '$response.header.ETag' };
  return {
    status: 201,
    description: 'The new record. With `Prefer: return=minimal` there is no body.',
    headers: ['Location', 'ETag', 'Preference-Applied', 'Idempotency-Replayed'] as const,
    content: { [JSON_TYPE]: content },
    links: {
      read: { operationId: `get${name}`, parameters },
      replace: { operationId: `replace${name}`, parameters: seen },
      change: { operationId: `patch${name}`, parameters: seen },
      delete: { operationId: `delete${name}`, parameters },
    },
  } satisfies AnswerDescription;
}

export function describedReplacement<Fields>(resource: DescribedResource<Fields>): OperationDescription {
  const { words } = resource;
  return {
    ...writing(resource),
    schemas: resource.about('whole', 'replacement').schemas ?? {},
    id: `replace${words.name}`,
    summary: `Replace ${words.one}`,
    text: 'The body is the complete record: an optional field that is left out loses its value. `id`, `version`, `createdAt` and `updatedAt` may be sent back unchanged. A record that does not exist is not created.',
    bodies: { [JSON_TYPE]: resource.body(resource.names.replacement) },
  };
}

export function describedChange<Fields>(
  resource: DescribedResource<Fields>,
  patchTypes: readonly string[],
  jsonPatch: string,
): OperationDescription {
  const { words } = resource;
  const merge = {
    schema: schemaRef(resource.names.patch),
    examples: { some: { summary: 'Some fields', value: firstMember(words.example) } },
  };
  const patch = {
    schema: schemaRef('JsonPatch'),
    examples: { some: { summary: 'An operation', value: [firstOperation(words.example)] } },
  };
  const { errors = [], ...rest } = writing(resource);
  return {
    ...rest,
    schemas: { ...resource.about('whole', 'patch').schemas, JsonPatch: JSON_PATCH_SCHEMA },
    errors: [...errors, 'invalid_patch', 'patch_test_failed'],
    id: `patch${words.name}`,
    summary: `Change ${words.one}`,
    text: 'The body is a JSON Merge Patch (RFC 7396), in which `null` removes a field, or a JSON Patch (RFC 6902), which is applied as a whole or not at all. Without `If-Match`, the patch is applied to the latest version of the record, so changes that others make to other fields are not lost.',
    bodies: Object.fromEntries(patchTypes.map((type) => [type, type === jsonPatch ? patch : merge])),
  };
}

export function describedDeletion<Fields>(resource: DescribedResource<Fields>): OperationDescription {
  const { words } = resource;
  return {
    ...resource.about(),
    ...conditions(resource),
    id: `delete${words.name}`,
    summary: `Delete ${words.one}`,
    text: 'Afterwards, its address is 404, and its id is never used again.',
    answers: [{ status: 204, description: 'The record was deleted.' }],
    errors: conditionErrors(resource),
  };
}

function writing<Fields>(
  resource: DescribedResource<Fields>,
): Omit<OperationDescription, 'id' | 'summary' | 'bodies'> {
  const headers = ['ETag', 'Preference-Applied'] as const;
  const { headers: optional, ...required } = conditions(resource);
  return {
    ...resource.about('whole'),
    ...required,
    headers: [...optional, 'PreferMinimal'],
    answers: [
      {
        status: 200,
        description:
          'The record as it is now. If the request changes nothing, `version` and `ETag` stay the same.',
        headers,
        content: {
          [JSON_TYPE]: { schema: schemaRef(resource.names.whole), examples: resource.examples() },
        },
      },
      { status: 204, description: 'The same, without a body, with `Prefer: return=minimal`.', headers },
    ],
    errors: ['malformed_json', 'validation_failed', ...resource.conflicts, ...conditionErrors(resource)],
  };
}

function conditions<Fields>({ requireIfMatch }: DescribedResource<Fields>) {
  return requireIfMatch
    ? { headers: ['IfNoneMatch'] as const, requiredHeaders: ['IfMatch'] as const }
    : { headers: ['IfMatch', 'IfNoneMatch'] as const };
}

function conditionErrors<Fields>({ requireIfMatch }: DescribedResource<Fields>): ResponseErrorCode[] {
  return [
    'invalid_parameter',
    'precondition_failed',
    ...(requireIfMatch ? ['precondition_required' as const] : []),
  ];
}

function firstMember(example: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(example).slice(0, 1));
}

function firstOperation(example: Readonly<Record<string, unknown>>): object {
  const [[name, value] = []] = Object.entries(example);
  return { op: 'replace', path: `/${name}`, value };
}
