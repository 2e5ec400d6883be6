import { uniqueFields } from '../../../../domain/fields.js';
import type { JsonObject } from '../../../../shared/json.js';
import type { ResponseErrorCode } from '../core/error-codes.js';
import { type JsonSchema, ndjsonSchema, schemaRef, TEXT } from '../core/json-schema.js';
import { CSV, JSON_PATCH, JSON_TYPE, NDJSON } from '../core/media-types.js';
import { exampleRecord, type ResourceDefinition, type ResourceDocs } from '../core/resource-definition.js';
import { type Columns, columnsOf, csvText } from '../lists/csv.js';
import { MAX_FACETS } from '../lists/facets.js';
import { LIMITS } from '../lists/list-operation.js';
import type { RequestHeader, ResponseHeader } from './headers.js';
import { bodySchemas, bySuffix, type SchemaKind, schemaNames } from './schemas.js';

/** The documentation of an operation, for client developers. The rest follows from the operation itself. */
export interface OperationDescription {
  /** Unique. Generated clients name their functions by it. */
  readonly id: string;
  readonly summary: string;
  /** CommonMark. */
  readonly text: string;
  readonly headers?: readonly RequestHeader[];
  /** By media type. */
  readonly bodies?: Readonly<Record<string, ContentDescription>>;
  readonly responses: readonly ResponseDescription[];
  /** Those in addition to the errors of every request, and to those that follow from the operation itself. */
  readonly errors?: readonly ResponseErrorCode[];
}

interface ContentDescription {
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface ResponseDescription {
  readonly status: number;
  /** The name in the components of the document, if operations share the response. */
  readonly sharedAs?: string;
  readonly description: string;
  readonly headers?: readonly ResponseHeader[];
  /** By media type. */
  readonly content?: Readonly<Record<string, ContentDescription>>;
  /** The possible next requests, by name: Link Objects (OpenAPI 3.1 section 4.8.20). */
  readonly links?: Readonly<
    Record<string, { readonly operationId: string; readonly parameters: Readonly<Record<string, string>> }>
  >;
}

/** The parts that the operations of a resource share in the OpenAPI document. */
export class OpenApiResource {
  readonly names: Readonly<Record<SchemaKind, string>>;

  constructor(
    readonly definition: ResourceDefinition<never>,
    /** Whether every write needs If-Match. */
    readonly requireIfMatch: boolean,
    /** The unique field in the path. Absent: the id. */
    private readonly key?: string,
  ) {
    this.names = schemaNames(definition.docs);
  }

  get docs(): ResourceDocs {
    return this.definition.docs;
  }

  /** The schemas of all bodies. The document has those that its operations refer to. */
  get schemas(): Readonly<Record<string, JsonSchema>> {
    return bodySchemas(this.definition);
  }

  /** The id of an operation: `patchProductBySku`. */
  operationId(verb: string): string {
    return `${verb}${this.docs.name}${this.key === undefined ? '' : bySuffix(this.key)}`;
  }

  /** What an operation does: `Change a product by its sku`. */
  summary(verb: string): string {
    return `${verb} ${this.docs.singular}${this.key === undefined ? '' : ` by its ${this.key}`}`;
  }

  get recordHeaders(): readonly ResponseHeader[] {
    return this.key === undefined ? ['ETag'] : ['ETag', 'Content-Location'];
  }

  /** The errors of a write that conflicts with another record. */
  get conflicts(): readonly ResponseErrorCode[] {
    return uniqueFields(this.definition.fields).length > 0 ? ['duplicate_value'] : [];
  }

  get record(): ContentDescription {
    return { schema: schemaRef(this.names.record) };
  }

  /** The body of a request. Postman takes its example from here, not from the schema. */
  body(kind: 'input' | 'replacement' | 'patch'): ContentDescription {
    const { example } = this.definition;
    const shown = { input: example, replacement: this.shortExample, patch: firstFields(example, 1) };
    return { schema: schemaRef(this.names[kind]), example: shown[kind] };
  }

  /** A valid body with few fields. */
  get shortExample(): JsonObject {
    return firstFields(this.definition.example, 3);
  }

  /** The body of a PUT by the key, which may leave the key out. */
  get put(): ContentDescription {
    const { key = '', definition } = this;
    if (!definition.table[key]?.required) return this.body('replacement');
    const { [key]: _inPath, ...example } = this.shortExample;
    return { schema: schemaRef(this.operationId('')), example };
  }
}

function firstFields(example: JsonObject, count: number): JsonObject {
  return Object.fromEntries(Object.entries(example).slice(0, count));
}

export function listDescription({ docs, definition, record }: OpenApiResource): OperationDescription {
  return {
    id: `list${docs.name}s`,
    summary: `List ${docs.plural}`,
    text: 'One page of the records that match all filters; `next` in `Link` is the URL of the next page.',
    headers: ['KnownTags', 'PreferCount'],
    responses: [
      {
        status: 200,
        description: `A page of ${docs.plural}, or all of them as NDJSON or CSV.`,
        headers: ['ListETag', 'Link', 'X-Total-Count', 'Preference-Applied'],
        content: {
          ...recordsOf(record.schema),
          [CSV]: {
            schema: TEXT,
            example: csvText(columnsOf(definition).shown, [exampleRecord(definition)]),
          },
        },
      },
      NOT_MODIFIED,
    ],
    errors: ['query_too_expensive'],
  };
}

/** The response if `If-None-Match` names the current state. */
const NOT_MODIFIED: ResponseDescription = {
  status: 304,
  sharedAs: 'NotModified',
  description: 'The client already has the current state, according to `If-None-Match`.',
  headers: ['ETag', 'Content-Location', 'Link', 'X-Total-Count', 'Preference-Applied'],
};

function recordsOf(schema: JsonSchema): Readonly<Record<string, ContentDescription>> {
  return {
    [JSON_TYPE]: { schema: { type: 'array', maxItems: LIMITS.max, items: schema } },
    [NDJSON]: { schema: ndjsonSchema(schema) },
  };
}

export function facetsDescription({ docs }: OpenApiResource): OperationDescription {
  return {
    id: `list${docs.name}Facets`,
    summary: `Count ${docs.plural} by value`,
    text: 'For each field, the values that the records have in it, each with the number of these records: the highest number first, then texts, numbers and booleans in their order. All filters must match, but `=`, `.in` and `.prefix` on a field do not narrow its own values. For one field, `next` in `Link` is the URL of further values.',
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
    errors: ['query_too_expensive'],
  };
}

export function changesDescription({ docs, names }: OpenApiResource): OperationDescription {
  return {
    id: `list${docs.name}Changes`,
    summary: `Follow the changes of ${docs.plural}`,
    text: 'What changed behind the cursor, oldest change first, and at most once for each record: the record as it is now, or that it was deleted. See **Changes** in the introduction.',
    headers: ['PreferWait'],
    responses: [
      {
        status: 200,
        description: `A page of changes of ${docs.plural}.`,
        headers: ['NextLink', 'Preference-Applied'],
        content: recordsOf(schemaRef(names.change)),
      },
    ],
    errors: ['cursor_expired'],
  };
}

export function readDescription(resource: OpenApiResource): OperationDescription {
  return {
    id: resource.operationId('get'),
    summary: resource.summary('Read'),
    text: 'The record, with the `ETag` that a write takes in `If-Match`.',
    headers: ['KnownTags'],
    responses: [recordResponse(resource), NOT_MODIFIED],
  };
}

export function createDescription(resource: OpenApiResource): OperationDescription {
  const { docs } = resource;
  return {
    id: `create${docs.name}`,
    summary: `Create ${docs.singular}`,
    text: 'With an `Idempotency-Key`, the request can be sent again after any failure, and nothing is created twice.',
    headers: ['IdempotencyKey'],
    bodies: { [JSON_TYPE]: resource.body('input') },
    responses: [creationResponse(resource, resource.record)],
    errors: resource.conflicts,
  };
}

/** @param mediaTypes those of the body */
export function importDescription(
  { docs, definition, names, shortExample }: OpenApiResource,
  mediaTypes: readonly string[],
): OperationDescription {
  const columns = columnsOf(definition);
  const shown = columns.sendable.filter(({ path: [field] }) => Object.hasOwn(shortExample, field));
  const bodies: Readonly<Record<string, ContentDescription>> = {
    [NDJSON]: {
      schema: ndjsonSchema({ anyOf: [schemaRef(names.input), schemaRef(names.line)] }),
      example: `${JSON.stringify(shortExample)}\n`,
    },
    [CSV]: { schema: TEXT, example: csvText(shown, [shortExample]) },
  };
  const hasCsv = mediaTypes.includes(CSV);
  return {
    id: `import${docs.name}s`,
    summary: `Import ${docs.plural}`,
    text: `Each line of the body creates a record, or with \`match\` also changes or deletes one. See **Imports** in the introduction. With \`match\` or \`dryRun=true\`, the scope \`${definition.readScope}\` is needed too.${hasCsv ? amountsInCsv(columns) : ''}`,
    headers: ['IdempotencyKey'],
    bodies: Object.fromEntries(Object.entries(bodies).filter(([type]) => mediaTypes.includes(type))),
    responses: [
      {
        status: 200,
        description: 'The result of each line.',
        content: { [NDJSON]: { schema: ndjsonSchema(schemaRef('ImportResult')) } },
      },
    ],
    errors: hasCsv ? ['malformed_csv', 'validation_failed', 'payload_too_large'] : [],
  };
}

function amountsInCsv({ decimals }: Columns): string {
  return decimals
    .map(
      ({ name, money: { field, amount } }) =>
        ` In CSV, \`${field}.${amount}\` is in the smallest unit of the currency; \`${name}\` takes its place for the major unit: \`19.99\`.`,
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
    id: resource.operationId('replace'),
    summary: resource.summary('Replace'),
    text: 'The body is the complete record: an optional field that is left out loses its value. `id`, `version`, `createdAt` and `updatedAt` may be sent back unchanged. A record that does not exist is not created.',
    bodies: { [JSON_TYPE]: resource.body('replacement') },
  };
}

export function putDescription(resource: OpenApiResource): OperationDescription {
  const { errors = [], ...rest } = writeDescription(resource);
  const { links: _byId, ...created } = creationResponse(resource, resource.record);
  return {
    ...rest,
    headers: ['IfMatch', 'IfNoneMatch'],
    id: resource.operationId('put'),
    summary: resource.summary('Create or replace'),
    text: 'Creates the record if none has the value in the path; else replaces it as a PUT to its id does. The body may leave the field in the path out. `If-None-Match: *` only creates, `If-Match` only replaces.',
    bodies: { [JSON_TYPE]: resource.put },
    responses: [recordResponse(resource), { ...created, headers: ['Location', ...resource.recordHeaders] }],
    errors: [...errors, 'not_found'],
  };
}

export function patchDescription(resource: OpenApiResource, patchTypes: readonly string[]): OperationDescription {
  const { errors = [], ...rest } = writeDescription(resource);
  const [[name, value] = []] = Object.entries(resource.definition.example);
  const operation = { op: 'replace', path: `/${name}`, value };
  const patch = { schema: schemaRef('JsonPatch'), example: [operation] };
  return {
    ...rest,
    errors: [...errors, 'invalid_patch', 'patch_test_failed'],
    id: resource.operationId('patch'),
    summary: resource.summary('Change'),
    text: 'The body is a JSON Merge Patch (RFC 7396) or a JSON Patch (RFC 6902). See **Patches** in the introduction.',
    bodies: Object.fromEntries(patchTypes.map((type) => [type, type === JSON_PATCH ? patch : resource.body('patch')])),
  };
}

export function deleteDescription(resource: OpenApiResource): OperationDescription {
  return {
    headers: CONDITIONS,
    id: resource.operationId('delete'),
    summary: resource.summary('Delete'),
    text: 'Every later request for the record is 404, and its id is never used again.',
    responses: [{ status: 204, sharedAs: 'Deleted', description: 'The record was deleted.' }],
    errors: conditionErrors(resource),
  };
}

function writeDescription(resource: OpenApiResource): Omit<OperationDescription, 'id' | 'summary' | 'text' | 'bodies'> {
  return {
    headers: CONDITIONS,
    responses: [recordResponse(resource)],
    errors: [...resource.conflicts, ...conditionErrors(resource)],
  };
}

function recordResponse(resource: OpenApiResource): ResponseDescription {
  return {
    status: 200,
    sharedAs: `${resource.operationId('')}Response`,
    description: 'The record as it is now. If the request changes nothing, `version` and `ETag` stay the same.',
    headers: resource.recordHeaders,
    content: { [JSON_TYPE]: resource.record },
  };
}

/** `If-None-Match` works too, but in a description that tools fill with examples it makes each request fail. */
export const CONDITIONS: readonly RequestHeader[] = ['IfMatch'];

export function conditionErrors({ requireIfMatch }: OpenApiResource): ResponseErrorCode[] {
  return ['precondition_failed', ...(requireIfMatch ? ['precondition_required' as const] : [])];
}
