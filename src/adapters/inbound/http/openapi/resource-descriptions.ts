import type { JsonObject } from '../../../../application/patch/merge-patch.js';
import { type ParameterDescription, tagOf } from '../core/description.js';
import type { ResponseErrorCode } from '../core/error-codes.js';
import { ndjsonSchema, schemaRef, TEXT } from '../core/json-schema.js';
import { CSV, JSON_PATCH, JSON_TYPE, NDJSON } from '../core/media-types.js';
import { ImportParameters } from '../import/import-parameters.js';
import { type Columns, columnsOf, csvText } from '../list/csv.js';
import { FacetQueryParser, MAX_FACETS } from '../list/facet-query-parser.js';
import { Filters } from '../list/filters.js';
import { LIMIT_DESCRIPTION, LIMITS, ListQueryParser } from '../list/list-query-parser.js';
import { FieldSelector } from '../query/field-selection.js';
import type { RequestHeader } from './header-objects.js';
import type { OpenApiResource } from './openapi-resource.js';
import {
  type ContentDescription,
  NOT_MODIFIED,
  type OperationDescription,
  type ResponseDescription,
} from './operation-description.js';
import {
  FACET_SCHEMAS,
  IMPORT_RESULT_SCHEMA,
  issuedName,
  issuedSchemas,
  JSON_PATCH_SCHEMAS,
} from './resource-schemas.js';

export function listDescription(resource: OpenApiResource): OperationDescription {
  const { docs } = resource;
  const { definition } = resource;
  const { schema } = resource.record;
  return {
    tag: tagOf(docs),
    schemas: resource.schemas('record'),
    id: `list${docs.name}s`,
    summary: `List ${docs.plural}`,
    text: 'One page of the records that match all filters; `next` in `Link` is the URL of the next page.',
    query: [
      ...new ListQueryParser(definition.path, definition).descriptions,
      ...filtersOf(resource),
      resource.fieldsOn('list'),
    ],
    headers: ['KnownTags', 'PreferCount'],
    responses: [
      {
        status: 200,
        description: `A page of ${docs.plural}, or all of them as NDJSON or CSV.`,
        headers: ['ListETag', 'Link', 'X-Total-Count', 'Preference-Applied'],
        content: {
          [JSON_TYPE]: { schema: { type: 'array', maxItems: LIMITS.max, items: schema } },
          [NDJSON]: { schema: ndjsonSchema(schema) },
          [CSV]: {
            schema: TEXT,
            example: csvText(columnsOf(definition).shown, [resource.wholeExample as JsonObject]),
          },
        },
      },
      NOT_MODIFIED,
    ],
    errors: ['invalid_parameter', 'invalid_cursor', 'cursor_mismatch', 'query_too_expensive'],
  };
}

export function facetsDescription(resource: OpenApiResource): OperationDescription {
  const { docs, definition } = resource;
  return {
    tag: tagOf(docs),
    schemas: FACET_SCHEMAS,
    id: `list${docs.name}Facets`,
    summary: `Count ${docs.plural} by value`,
    text: 'For each field, the values that the records have in it, each with the number of these records: the highest number first, then texts, numbers and booleans in their order. All filters must match, but `=`, `.in` and `.prefix` on a field do not narrow its own values. For one field, `next` in `Link` is the URL of further values.',
    query: [...new FacetQueryParser(definition.path, definition).descriptions, ...filtersOf(resource)],
    headers: ['KnownTags'],
    responses: [
      {
        status: 200,
        description: 'The values of each field, in the order of `fields`.',
        headers: ['ListETag', 'MoreLink'],
        content: {
          [JSON_TYPE]: { schema: { type: 'array', maxItems: MAX_FACETS, items: schemaRef('Facet') } },
        },
      },
      NOT_MODIFIED,
    ],
    errors: ['invalid_parameter', 'invalid_cursor', 'cursor_mismatch', 'query_too_expensive'],
  };
}

function filtersOf({ definition, wholeExample }: OpenApiResource): ParameterDescription[] {
  return new Filters(definition).descriptions(wholeExample);
}

export function changesDescription(resource: OpenApiResource): OperationDescription {
  const { docs, definition } = resource;
  const schema = schemaRef(resource.names.change);
  return {
    tag: tagOf(docs),
    schemas: resource.schemas('change'),
    id: `list${docs.name}Changes`,
    summary: `Follow the changes of ${docs.plural}`,
    text: `What changed behind the cursor, oldest change first, and at most once for each record: the record as it is now, or that it was deleted. Without a cursor the response is empty, and \`next\` in \`Link\` is the URL of all changes from now on. To keep a copy, take that URL, read the list, and then follow \`next\` for ever; a change can be shown again. An empty page is the last one so far. With \`Accept: application/x-ndjson\` and without \`limit\`, all changes up to now are sent.`,
    query: [
      CHANGE_CURSOR,
      { ...LIMIT_DESCRIPTION, description: CHANGE_LIMIT },
      new FieldSelector(definition, 'change').description(['id', 'version']),
    ],
    headers: ['PreferWait'],
    responses: [
      {
        status: 200,
        description: `A page of changes of ${docs.plural}.`,
        headers: ['NextLink', 'Preference-Applied'],
        content: {
          [JSON_TYPE]: { schema: { type: 'array', maxItems: LIMITS.max, items: schema } },
          [NDJSON]: { schema: ndjsonSchema(schema) },
        },
      },
    ],
    errors: ['invalid_parameter', 'invalid_cursor', 'cursor_mismatch', 'cursor_expired'],
  };
}

const CHANGE_LIMIT =
  'The most changes that a page may have. A page may have fewer although there are more; only an empty one is the last so far.';

const CHANGE_CURSOR: ParameterDescription = {
  name: 'cursor',
  description:
    'A place in the changes, taken from a URL in `Link`, for the same resource and the same `fields`. It is good for 50 hours.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' },
  example: 'eyJhZnRlciI6MTAwfQ',
};

export function readDescription(resource: OpenApiResource): OperationDescription {
  const { docs } = resource;
  return {
    tag: tagOf(docs),
    schemas: resource.schemas('record'),
    id: resource.operationId('get'),
    summary: resource.summary('Read'),
    text: 'Send the `ETag` of the response in `If-Match` to write the record only if it is still the same.',
    query: [resource.fieldsOn('item')],
    headers: ['KnownTags'],
    responses: [recordResponse(resource), NOT_MODIFIED],
    errors: ['invalid_parameter'],
  };
}

export function createDescription(resource: OpenApiResource): OperationDescription {
  const { docs } = resource;
  return {
    tag: tagOf(docs),
    schemas: resource.schemas('record', 'input'),
    id: `create${docs.name}`,
    summary: `Create ${docs.singular}`,
    text: 'With an `Idempotency-Key`, the request can be sent again after any failure, and nothing is created twice.',
    headers: ['IdempotencyKey'],
    bodies: { [JSON_TYPE]: resource.body('input') },
    responses: [creationResponse(resource, resource.record)],
    errors: [
      'malformed_json',
      'validation_failed',
      ...resource.conflicts,
      'invalid_idempotency_key',
      'idempotency_key_reused',
    ],
  };
}

/** @param mediaTypes those of the body */
export function importDescription(
  resource: OpenApiResource,
  mediaTypes: readonly string[],
): OperationDescription {
  const { docs, definition } = resource;
  const columns = columnsOf(definition);
  const bodies: Readonly<Record<string, ContentDescription>> = {
    [NDJSON]: {
      schema: ndjsonSchema({ anyOf: [schemaRef(resource.names.input), schemaRef(resource.names.line)] }),
      example: `${JSON.stringify(definition.example)}\n`,
    },
    [CSV]: { schema: TEXT, example: csvText(columns.sendable, [definition.example]) },
  };
  const hasCsv = mediaTypes.includes(CSV);
  return {
    tag: tagOf(docs),
    schemas: { ...resource.schemas('input', 'line'), ImportResult: IMPORT_RESULT_SCHEMA },
    id: `import${docs.name}s`,
    summary: `Import ${docs.plural}`,
    query: new ImportParameters(definition).descriptions(),
    text: `Each line of the body creates a record, or with \`match\` also changes or deletes one, and the response has a result for each line, in the same order. A bad line does not stop the others. With an \`Idempotency-Key\`, the lines can be sent again after any failure, and nothing is created twice. With \`match\` or \`dryRun=true\`, the scope \`${definition.readScope}\` is needed too.${hasCsv ? ` CSV begins with a header row, which names the columns; the records after it count from line 1; empty ones are ignored. If the header row is invalid, nothing is created.${amountsInCsv(columns)}` : ''}`,
    headers: ['IdempotencyKey'],
    bodies: Object.fromEntries(Object.entries(bodies).filter(([type]) => mediaTypes.includes(type))),
    responses: [
      {
        status: 200,
        description: 'The result of each line.',
        content: { [NDJSON]: { schema: ndjsonSchema(schemaRef('ImportResult')) } },
      },
    ],
    errors: [
      'invalid_idempotency_key',
      'idempotency_key_reused',
      ...(hasCsv ? (['malformed_csv', 'validation_failed', 'payload_too_large'] as const) : []),
    ],
  };
}

function amountsInCsv({ decimals }: Columns): string {
  return decimals
    .map(
      ({ name, money: { field, amount } }) =>
        ` \`${field}.${amount}\` is in the smallest unit of the currency; \`${name}\` takes its place for the major unit: \`19.99\`.`,
    )
    .join('');
}

/** @param content the body of the response */
export function creationResponse(resource: OpenApiResource, content: ContentDescription) {
  const { name } = resource.docs;
  const parameters = { id: '$response.body#/id' };
  const parametersWithTag = { ...parameters, 'If-Match': '$response.header.ETag' };
  return {
    status: 201,
    description: 'The new record.',
    headers: ['Location', 'ETag', 'Idempotency-Replayed'] as const,
    content: { [JSON_TYPE]: content },
    links: {
      read: { operationId: `get${name}`, parameters },
      replace: { operationId: `replace${name}`, parameters: parametersWithTag },
      change: { operationId: `patch${name}`, parameters: parametersWithTag },
      delete: { operationId: `delete${name}`, parameters },
    },
  } satisfies ResponseDescription;
}

export function replaceDescription(resource: OpenApiResource): OperationDescription {
  return {
    ...writeDescription(resource),
    headers: ['IfMatch', 'IfNoneMatch'],
    schemas: resource.schemas('record', 'replacement'),
    id: resource.operationId('replace'),
    summary: resource.summary('Replace'),
    text: 'The body is the complete record: an optional field that is left out loses its value. `id`, `version`, `createdAt` and `updatedAt` may be sent back unchanged. A record that does not exist is not created.',
    bodies: { [JSON_TYPE]: resource.body('replacement') },
  };
}

export function putDescription(resource: OpenApiResource): OperationDescription {
  const { put } = resource;
  const { errors = [], ...rest } = writeDescription(resource);
  const { links: _byId, headers: _ofPost, ...created } = creationResponse(resource, resource.record);
  return {
    ...rest,
    headers: ['IfMatch', 'IfNoneMatch'],
    schemas: { ...resource.schemas('record'), ...put.schemas },
    id: resource.operationId('put'),
    summary: resource.summary('Create or replace'),
    text: 'Creates the record if none has the value in the path; else replaces it as a PUT to its id does. The body may leave the field in the path out. `If-None-Match: *` only creates, `If-Match` only replaces.',
    bodies: { [JSON_TYPE]: put.body },
    responses: [recordResponse(resource), { ...created, headers: ['Location', ...resource.recordHeaders] }],
    errors: [...errors, 'not_found'],
  };
}

export function patchDescription(
  resource: OpenApiResource,
  patchTypes: readonly string[],
): OperationDescription {
  const { definition } = resource;
  const patch = { schema: schemaRef('JsonPatch'), example: [firstOperation(definition.example)] };
  const { errors = [], ...rest } = writeDescription(resource);
  const emptiable = Object.keys(definition.empty).map((name) => `\`/${name}\``);
  const intoEmpty = `In a JSON Patch, \`add\`, and the target of \`copy\` and \`move\`, directly below ${emptiable.join(', ')} act on an empty one where the record has none.`;
  return {
    ...rest,
    schemas: { ...resource.schemas('record', 'patch'), ...JSON_PATCH_SCHEMAS },
    errors: [...errors, 'invalid_patch', 'patch_test_failed'],
    id: resource.operationId('patch'),
    summary: resource.summary('Change'),
    text: `The body is a JSON Merge Patch (RFC 7396), in which \`null\` removes a field, or a JSON Patch (RFC 6902), which is applied as a whole or not at all. Without \`If-Match\`, the patch is applied to the latest version of the record, so changes that others make to other fields are not lost.${emptiable.length > 0 ? ` ${intoEmpty}` : ''}`,
    bodies: Object.fromEntries(
      patchTypes.map((type) => [type, type === JSON_PATCH ? patch : resource.body('patch')]),
    ),
  };
}

export function deleteDescription(resource: OpenApiResource): OperationDescription {
  const { docs } = resource;
  return {
    tag: tagOf(docs),
    headers: CONDITIONS,
    id: resource.operationId('delete'),
    summary: resource.summary('Delete'),
    text: 'Every later request for the record is 404, and its id is never used again.',
    responses: [{ status: 204, sharedAs: 'Deleted', description: 'The record was deleted.' }],
    errors: conditionErrors(resource),
  };
}

function writeDescription(
  resource: OpenApiResource,
): Omit<OperationDescription, 'id' | 'summary' | 'text' | 'bodies'> {
  return {
    tag: tagOf(resource.docs),
    headers: CONDITIONS,
    responses: [recordResponse(resource)],
    errors: ['malformed_json', 'validation_failed', ...resource.conflicts, ...conditionErrors(resource)],
  };
}

function recordResponse(resource: OpenApiResource): ResponseDescription {
  return {
    status: 200,
    sharedAs: `${resource.operationId('')}Response`,
    description:
      'The record as it is now. If the request changes nothing, `version` and `ETag` stay the same.',
    headers: resource.recordHeaders,
    content: { [JSON_TYPE]: resource.record },
  };
}

/** `If-None-Match` works too, but in a description that tools fill with examples it makes each request fail. */
export const CONDITIONS: readonly RequestHeader[] = ['IfMatch'];

export function conditionErrors({ requireIfMatch }: OpenApiResource): ResponseErrorCode[] {
  return [
    'invalid_parameter',
    'precondition_failed',
    ...(requireIfMatch ? ['precondition_required' as const] : []),
  ];
}

function firstOperation(example: Readonly<Record<string, unknown>>): object {
  const [[name, value] = []] = Object.entries(example);
  return { op: 'replace', path: `/${name}`, value };
}

/** Like {@link createDescription}, but with the secret in the response. */
export function issueDescription(resource: OpenApiResource): OperationDescription {
  const { links, ...created } = creationResponse(resource, {
    schema: schemaRef(issuedName(resource.definition)),
  });
  const { read, delete: revoke } = links;
  return {
    ...createDescription(resource),
    summary: 'Create an API key',
    text: 'Only this response shows the key itself. With an `Idempotency-Key`, a repeated request creates no second key, and does not show the first one again. The new key can have only scopes that the credential of the request has, and does not outlive it: by default it expires when the key of the request does, and within 90 days if a token of another issuer makes it.',
    schemas: { ...resource.schemas('input'), ...issuedSchemas(resource.definition) },
    responses: [
      {
        ...created,
        description: 'The new key.',
        links: { read, delete: revoke },
      },
    ],
  };
}

export function revokeDescription(resource: OpenApiResource): OperationDescription {
  const { errors = [], text, ...deletion } = deleteDescription(resource);
  return {
    ...deletion,
    text: `${text} The key is refused at once by the process that responds, and within five seconds by all others. The last key with \`keys:admin\` that has not expired stays.`,
    errors: [...errors, 'last_admin_key'],
  };
}
