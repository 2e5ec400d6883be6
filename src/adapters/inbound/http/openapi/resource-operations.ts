import type { ErrorCode } from '../../../../domain/errors.js';
import { uniqueFields } from '../../../../domain/fields.js';
import { ListParameters } from '../lists/list-parameters.js';
import { LINES } from '../lists/ndjson.js';
import type { ResourceDescription } from '../resource-description.js';
import { Views } from '../views.js';
import {
  type AnswerDescription,
  type ContentDescription,
  linesOf,
  notModified,
  type OperationDescription,
  schemaRef,
} from './description.js';
import type { RequestHeader } from './headers.js';
import type { JsonSchema } from './json-schema.js';
import {
  IMPORT_RESULT_SCHEMA,
  JSON_PATCH_SCHEMA,
  resourceSchemas,
  type SchemaKind,
  schemaNames,
} from './resource-schemas.js';
import { tagOf } from './resource-words.js';

const JSON_TYPE = 'application/json';
const CONDITIONS: readonly RequestHeader[] = ['IfMatch', 'IfNoneMatch'];

/** What is said of the operations of a resource. They are alike for all; one that differs says so over it. */
export class ResourceOperations<Fields> {
  private readonly names: ReturnType<typeof schemaNames>;
  private readonly schemas: ReturnType<typeof resourceSchemas>;
  /** Whether a write can meet another record's value. */
  private readonly conflicts: readonly ErrorCode[];

  constructor(
    private readonly resource: ResourceDescription<Fields>,
    private readonly requireIfMatch: boolean,
  ) {
    this.names = schemaNames(resource.words);
    this.schemas = resourceSchemas(resource);
    this.conflicts = uniqueFields(resource.fields).length > 0 ? ['duplicate_value'] : [];
  }

  listing(): OperationDescription {
    const { path, fields, words } = this.resource;
    const record = this.shown();
    return {
      ...this.about('whole', 'view'),
      id: `list${words.name}s`,
      summary: `List ${words.many}`,
      text: 'Returns one page, of at most `limit` records, or fewer if they are large. To read the whole list, follow `next` in `Link` until there is none: every record that keeps its place in the list appears exactly once, whatever else is written in the meantime. With `Accept: application/x-ndjson` each record is a line; without `limit` the whole list is then sent as one stream. If the stream cannot be completed, the connection is cut before the end of the response, which HTTP clients report as an error.',
      query: [...new ListParameters(path, fields).described(), new Views(this.resource).described()],
      headers: ['KnownTags', 'PreferCount', 'AcceptEncoding'],
      answers: [
        {
          status: 200,
          description: `A page of ${words.many}, or all of them as lines.`,
          optionalHeaders: ['ETag'],
          headers: ['Link', 'X-Total-Count', 'Preference-Applied', 'Content-Encoding'],
          content: {
            [JSON_TYPE]: {
              schema: { type: 'array', items: record },
              examples: { some: { summary: 'One record', value: [this.example] } },
            },
            [LINES]: { schema: linesOf(record) },
          },
        },
        notModified('X-Total-Count', 'Link', 'Preference-Applied'),
      ],
      errors: ['invalid_parameter', 'invalid_cursor', 'cursor_mismatch', 'query_too_expensive'],
    };
  }

  creation(): OperationDescription {
    const { words } = this.resource;
    return {
      ...this.about(),
      schemas: { ...this.about('whole', 'fresh').schemas, ImportResult: IMPORT_RESULT_SCHEMA },
      id: `create${words.name}`,
      summary: `Create ${words.one}, or import many`,
      text: 'A JSON body creates one record. A body of type `application/x-ndjson` is an import: each line creates a record, and the response has a result for each line, in the same order. A bad line does not stop the others. With an `Idempotency-Key`, either can be sent again after any failure, and nothing is created twice.',
      headers: ['IdempotencyKey', 'PreferMinimal', 'AcceptEncoding'],
      bodies: {
        [JSON_TYPE]: this.body(this.names.fresh),
        [LINES]: { schema: linesOf(schemaRef(this.names.fresh)) },
      },
      answers: [
        {
          status: 200,
          description: 'An import: the result of each line.',
          headers: ['Content-Encoding'],
          content: { [LINES]: { schema: linesOf(schemaRef('ImportResult')) } },
        },
        this.created({ schema: schemaRef(this.names.whole), examples: this.examples() }),
      ],
      errors: [
        'malformed_json',
        'validation_failed',
        ...this.conflicts,
        'invalid_idempotency_key',
        'idempotency_key_reused',
      ],
    };
  }

  /** @param content of the answer */
  created(content: ContentDescription) {
    const { name } = this.resource.words;
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

  reading(): OperationDescription {
    const { words } = this.resource;
    return {
      ...this.about('whole', 'view'),
      id: `get${words.name}`,
      summary: `Read ${words.one}`,
      query: [new Views(this.resource).described()],
      headers: ['KnownTags'],
      answers: [
        {
          status: 200,
          description: 'The record.',
          headers: ['ETag'],
          content: { [JSON_TYPE]: { schema: this.shown(), examples: this.examples() } },
        },
        notModified(),
      ],
      errors: ['invalid_parameter'],
    };
  }

  replacement(): OperationDescription {
    const { words } = this.resource;
    return {
      ...this.writing(),
      schemas: this.about('whole', 'replacement').schemas ?? {},
      id: `replace${words.name}`,
      summary: `Replace ${words.one}`,
      text: 'The body is the complete record: an optional field that is left out loses its value. `id`, `version`, `createdAt` and `updatedAt` may be sent back unchanged. A record that does not exist is not created.',
      bodies: { [JSON_TYPE]: this.body(this.names.replacement) },
    };
  }

  change(patchTypes: readonly string[], jsonPatch: string): OperationDescription {
    const { words } = this.resource;
    const merge = {
      schema: schemaRef(this.names.patch),
      examples: { some: { summary: 'Some fields', value: firstMember(words.example) } },
    };
    const patch = {
      schema: schemaRef('JsonPatch'),
      examples: { some: { summary: 'An operation', value: [firstOperation(words.example)] } },
    };
    const { errors = [], ...rest } = this.writing();
    return {
      ...rest,
      schemas: { ...this.about('whole', 'patch').schemas, JsonPatch: JSON_PATCH_SCHEMA },
      errors: [...errors, 'invalid_patch', 'patch_test_failed'],
      id: `patch${words.name}`,
      summary: `Change ${words.one}`,
      text: 'The body is a JSON Merge Patch (RFC 7396), in which `null` removes a field, or a JSON Patch (RFC 6902), which is applied as a whole or not at all. Without `If-Match`, the patch is applied to the latest version of the record, so changes that others make to other fields are not lost.',
      bodies: Object.fromEntries(patchTypes.map((type) => [type, type === jsonPatch ? patch : merge])),
    };
  }

  deletion(): OperationDescription {
    const { words } = this.resource;
    return {
      ...this.about(),
      ...this.conditions(),
      id: `delete${words.name}`,
      summary: `Delete ${words.one}`,
      text: 'Afterwards, its address is 404, and its id is never used again.',
      answers: [{ status: 204, description: 'The record was deleted.' }],
      errors: this.conditionErrors(),
    };
  }

  private about(...kinds: SchemaKind[]): Pick<OperationDescription, 'tag' | 'schemas'> {
    const named = kinds.map((kind) => [this.names[kind], this.schemas[kind]]);
    return { tag: tagOf(this.resource.words), schemas: Object.fromEntries(named) };
  }

  private writing(): Omit<OperationDescription, 'id' | 'summary' | 'bodies'> {
    const headers = ['ETag', 'Preference-Applied'] as const;
    const { headers: conditions, ...required } = this.conditions();
    return {
      ...this.about('whole'),
      ...required,
      headers: [...conditions, 'PreferMinimal'],
      answers: [
        {
          status: 200,
          description:
            'The record as it is now. If the request changes nothing, `version` and `ETag` stay the same.',
          headers,
          content: {
            [JSON_TYPE]: { schema: schemaRef(this.names.whole), examples: this.examples() },
          },
        },
        { status: 204, description: 'The same, without a body, with `Prefer: return=minimal`.', headers },
      ],
      errors: ['malformed_json', 'validation_failed', ...this.conflicts, ...this.conditionErrors()],
    };
  }

  private conditions() {
    return this.requireIfMatch
      ? { headers: ['IfNoneMatch'] as const, requiredHeaders: ['IfMatch'] as const }
      : { headers: CONDITIONS };
  }

  private conditionErrors(): ErrorCode[] {
    return [
      'invalid_parameter',
      'precondition_failed',
      ...(this.requireIfMatch ? ['precondition_required' as const] : []),
    ];
  }

  /** Whole, or of it what `fields` asks for. */
  private shown(): JsonSchema {
    return { anyOf: [schemaRef(this.names.whole), schemaRef(this.names.view)] };
  }

  private body(schema: string): ContentDescription {
    const { one, example } = this.resource.words;
    return { schema: schemaRef(schema), examples: { some: { summary: one, value: example } } };
  }

  private get example(): object {
    const { words, alwaysGiven = [] } = this.resource;
    const given = alwaysGiven.map((name) => [name, '2026-01-31T12:00:00.000Z']);
    return { id: 1, ...words.example, ...Object.fromEntries(given) };
  }

  private examples(): ContentDescription['examples'] & object {
    return { some: { summary: this.resource.words.one, value: this.example } };
  }
}

function firstMember(example: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(example).slice(0, 1));
}

function firstOperation(example: Readonly<Record<string, unknown>>): object {
  const [[name, value] = []] = Object.entries(example);
  return { op: 'replace', path: `/${name}`, value };
}
