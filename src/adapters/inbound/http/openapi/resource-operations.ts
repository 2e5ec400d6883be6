import type { ApiKey } from '../../../../domain/access.js';
import { uniqueFields } from '../../../../domain/fields.js';
import { ListQueryParser } from '../list/list-query-parser.js';
import { NDJSON } from '../list/ndjson.js';
import { SparseFields } from '../query/sparse-fields.js';
import type { ResourceDefinition } from '../resources/resource-definition.js';
import type { ResponseErrorCode } from '../response/error-codes.js';
import {
  type ContentDescription,
  notModified,
  type OperationDescription,
  type ResourceDocs,
  type ResponseDescription,
  tagOf,
} from './description.js';
import { type JsonSchema, ndjsonSchema, schemaRef } from './json-schema.js';
import {
  IMPORT_RESULT_SCHEMA,
  issuedSchema,
  JSON_PATCH_SCHEMA,
  resourceSchemas,
  type SchemaKind,
  schemaNames,
} from './resource-schemas.js';

/** The parts that the operations of a resource share in the OpenAPI document. */
export class OpenApiResource<Fields> {
  readonly names: Readonly<Record<SchemaKind, string>>;
  private readonly schemas: Readonly<Record<SchemaKind, JsonSchema>>;

  constructor(
    readonly definition: ResourceDefinition<Fields>,
    /** Whether every write needs If-Match. */
    readonly requireIfMatch: boolean,
  ) {
    this.names = schemaNames(definition.docs);
    this.schemas = resourceSchemas(definition);
  }

  get docs(): ResourceDocs {
    return this.definition.docs;
  }

  /** The errors of a write that conflicts with another record. */
  get conflicts(): readonly ResponseErrorCode[] {
    return uniqueFields(this.definition.fields).length > 0 ? ['duplicate_value'] : [];
  }

  /** @param kinds the schemas to which the operation refers */
  about(...kinds: SchemaKind[]): Pick<OperationDescription, 'tag' | 'schemas'> {
    const named = kinds.map((kind) => [this.names[kind], this.schemas[kind]]);
    return { tag: tagOf(this.docs), schemas: Object.fromEntries(named) };
  }

  /** A whole record, or the fields that `fields` selects. */
  shown(): JsonSchema {
    return { anyOf: [schemaRef(this.names.whole), schemaRef(this.names.view)] };
  }

  /** The body of a request. */
  body(schema: string): ContentDescription {
    const { one, example } = this.docs;
    return { schema: schemaRef(schema), examples: { some: { summary: one, value: example } } };
  }

  get example(): object {
    const { alwaysPresent = [] } = this.definition;
    const system = alwaysPresent.map((name) => [name, '2026-01-31T12:00:00.000Z']);
    return { id: 1, ...this.docs.example, ...Object.fromEntries(system) };
  }

  examples(): ContentDescription['examples'] & object {
    return { some: { summary: this.docs.one, value: this.example } };
  }
}

export function listDescription<Fields>(resource: OpenApiResource<Fields>): OperationDescription {
  const { docs } = resource;
  const { path, fields } = resource.definition;
  const record = resource.shown();
  return {
    ...resource.about('whole', 'view'),
    id: `list${docs.name}s`,
    summary: `List ${docs.many}`,
    text: 'Returns one page, of at most `limit` records, or fewer if they are large. To read the whole list, follow `next` in `Link` until there is none: every record that keeps its place in the list appears exactly once, whatever else is written in the meantime. With `Accept: application/x-ndjson` each record is a line; without `limit` the whole list is then sent as one stream. If the stream cannot be completed, the connection is cut before the end of the response, which HTTP clients report as an error.',
    query: [
      ...new ListQueryParser(path, fields).descriptions(),
      new SparseFields(resource.definition).description(),
    ],
    headers: ['KnownTags', 'PreferCount', 'AcceptEncoding'],
    responses: [
      {
        status: 200,
        description: `A page of ${docs.many}, or all of them as lines.`,
        optionalHeaders: ['ETag'],
        headers: ['Link', 'X-Total-Count', 'Preference-Applied', 'Content-Encoding'],
        content: {
          'application/json': {
            schema: { type: 'array', items: record },
            examples: { some: { summary: 'One record', value: [resource.example] } },
          },
          [NDJSON]: { schema: ndjsonSchema(record) },
        },
      },
      notModified('X-Total-Count', 'Link', 'Preference-Applied'),
    ],
    errors: ['invalid_parameter', 'invalid_cursor', 'cursor_mismatch', 'query_too_expensive'],
  };
}

export function readDescription<Fields>(resource: OpenApiResource<Fields>): OperationDescription {
  const { docs } = resource;
  return {
    ...resource.about('whole', 'view'),
    id: `get${docs.name}`,
    summary: `Read ${docs.one}`,
    query: [new SparseFields(resource.definition).description()],
    headers: ['KnownTags'],
    responses: [
      {
        status: 200,
        description: 'The record.',
        headers: ['ETag'],
        content: { 'application/json': { schema: resource.shown(), examples: resource.examples() } },
      },
      notModified(),
    ],
    errors: ['invalid_parameter'],
  };
}

const JSON_TYPE = 'application/json';

export function createDescription<Fields>(resource: OpenApiResource<Fields>): OperationDescription {
  const { docs } = resource;
  return {
    ...resource.about(),
    schemas: { ...resource.about('whole', 'fresh').schemas, ImportResult: IMPORT_RESULT_SCHEMA },
    id: `create${docs.name}`,
    summary: `Create ${docs.one}, or import many`,
    text: 'A JSON body creates one record. A body of type `application/x-ndjson` is an import: each line creates a record, and the response has a result for each line, in the same order. A bad line does not stop the others. With an `Idempotency-Key`, either can be sent again after any failure, and nothing is created twice.',
    headers: ['IdempotencyKey', 'PreferMinimal', 'AcceptEncoding'],
    bodies: {
      [JSON_TYPE]: resource.body(resource.names.fresh),
      [NDJSON]: { schema: ndjsonSchema(schemaRef(resource.names.fresh)) },
    },
    responses: [
      {
        status: 200,
        description: 'An import: the result of each line.',
        headers: ['Content-Encoding'],
        content: { [NDJSON]: { schema: ndjsonSchema(schemaRef('ImportResult')) } },
      },
      creationResponse(resource, { schema: schemaRef(resource.names.whole), examples: resource.examples() }),
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

/** @param content the body of the response */
function creationResponse<Fields>(resource: OpenApiResource<Fields>, content: ContentDescription) {
  const { name } = resource.docs;
  const parameters = { id: '$response.body#/id' };
  const parametersWithTag = { ...parameters, 'If-Match': '$response.header.ETag' };
  return {
    status: 201,
    description: 'The new record. With `Prefer: return=minimal` there is no body.',
    headers: ['Location', 'ETag', 'Preference-Applied', 'Idempotency-Replayed'] as const,
    content: { [JSON_TYPE]: content },
    links: {
      read: { operationId: `get${name}`, parameters },
      replace: { operationId: `replace${name}`, parameters: parametersWithTag },
      change: { operationId: `patch${name}`, parameters: parametersWithTag },
      delete: { operationId: `delete${name}`, parameters },
    },
  } satisfies ResponseDescription;
}

export function replaceDescription<Fields>(resource: OpenApiResource<Fields>): OperationDescription {
  const { docs } = resource;
  return {
    ...writeDescription(resource),
    schemas: resource.about('whole', 'replacement').schemas ?? {},
    id: `replace${docs.name}`,
    summary: `Replace ${docs.one}`,
    text: 'The body is the complete record: an optional field that is left out loses its value. `id`, `version`, `createdAt` and `updatedAt` may be sent back unchanged. A record that does not exist is not created.',
    bodies: { [JSON_TYPE]: resource.body(resource.names.replacement) },
  };
}

export function patchDescription<Fields>(
  resource: OpenApiResource<Fields>,
  patchTypes: readonly string[],
  jsonPatch: string,
): OperationDescription {
  const { docs } = resource;
  const merge = {
    schema: schemaRef(resource.names.patch),
    examples: { some: { summary: 'Some fields', value: firstMember(docs.example) } },
  };
  const patch = {
    schema: schemaRef('JsonPatch'),
    examples: { some: { summary: 'An operation', value: [firstOperation(docs.example)] } },
  };
  const { errors = [], ...rest } = writeDescription(resource);
  return {
    ...rest,
    schemas: { ...resource.about('whole', 'patch').schemas, JsonPatch: JSON_PATCH_SCHEMA },
    errors: [...errors, 'invalid_patch', 'patch_test_failed'],
    id: `patch${docs.name}`,
    summary: `Change ${docs.one}`,
    text: 'The body is a JSON Merge Patch (RFC 7396), in which `null` removes a field, or a JSON Patch (RFC 6902), which is applied as a whole or not at all. Without `If-Match`, the patch is applied to the latest version of the record, so changes that others make to other fields are not lost.',
    bodies: Object.fromEntries(patchTypes.map((type) => [type, type === jsonPatch ? patch : merge])),
  };
}

export function deleteDescription<Fields>(resource: OpenApiResource<Fields>): OperationDescription {
  const { docs } = resource;
  return {
    ...resource.about(),
    ...conditions(resource),
    id: `delete${docs.name}`,
    summary: `Delete ${docs.one}`,
    text: 'Afterwards, its address is 404, and its id is never used again.',
    responses: [{ status: 204, description: 'The record was deleted.' }],
    errors: conditionErrors(resource),
  };
}

function writeDescription<Fields>(
  resource: OpenApiResource<Fields>,
): Omit<OperationDescription, 'id' | 'summary' | 'bodies'> {
  const headers = ['ETag', 'Preference-Applied'] as const;
  const { headers: optional, ...required } = conditions(resource);
  return {
    ...resource.about('whole'),
    ...required,
    headers: [...optional, 'PreferMinimal'],
    responses: [
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

function conditions<Fields>({ requireIfMatch }: OpenApiResource<Fields>) {
  return requireIfMatch
    ? { headers: ['IfNoneMatch'] as const, requiredHeaders: ['IfMatch'] as const }
    : { headers: ['IfMatch', 'IfNoneMatch'] as const };
}

function conditionErrors<Fields>({ requireIfMatch }: OpenApiResource<Fields>): ResponseErrorCode[] {
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

/** Like {@link createDescription}, but with the secret in the response and without imports. */
export function issueDescription(resource: OpenApiResource<ApiKey>): OperationDescription {
  const { bodies = {}, schemas, headers = [], ...creation } = createDescription(resource);
  const { 'application/x-ndjson': _lines, ...json } = bodies;
  const { links, ...created } = creationResponse(resource, { schema: schemaRef('IssuedApiKey') });
  const { read, delete: revoke } = links;
  return {
    ...creation,
    summary: 'Create an API key',
    text: 'Only this response shows the key itself. With an `Idempotency-Key`, a repeated request creates no second key, and does not show the first one again. The new key can have only scopes that the credential of the request has.',
    schemas: { ...schemas, IssuedApiKey: issuedSchema(resource.definition) },
    headers: headers.filter((name) => name === 'IdempotencyKey'),
    bodies: json,
    responses: [
      {
        ...created,
        headers: created.headers.filter((name) => name !== 'Preference-Applied'),
        description: 'The new key, in full even with `Prefer: return=minimal`.',
        links: { read, delete: revoke },
      },
    ],
  };
}

export function revokeDescription(resource: OpenApiResource<ApiKey>): OperationDescription {
  const { errors = [], text, ...deletion } = deleteDescription(resource);
  return {
    ...deletion,
    text: `${text} The key is refused at once by the process that responds, and within five seconds by all others. The last key with \`keys:admin\` that has not expired stays.`,
    errors: [...errors, 'last_admin_key'],
  };
}
