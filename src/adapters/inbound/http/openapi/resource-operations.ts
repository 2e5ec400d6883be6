import type { ErrorCode } from '../../../../domain/errors.js';
import { uniqueFields } from '../../../../domain/fields.js';
import { ListParameters } from '../lists/list-parameters.js';
import { LINES } from '../lists/ndjson.js';
import type { ResourceDescription } from '../resource-description.js';
import { Views } from '../views.js';
import {
  type AnswerDescription,
  type AnsweredHeader,
  type ContentDescription,
  linesOf,
  type OperationDescription,
  schemaRef,
} from './description.js';
import type { RequestHeader } from './headers.js';
import type { JsonSchema } from './json-schema.js';
import {
  IMPORT_RESULT_SCHEMA,
  JSON_PATCH_SCHEMA,
  JSON_SCHEMA,
  resourceSchemas,
  type SchemaKind,
  schemaNames,
} from './resource-schemas.js';

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
      text: 'Pages hang together by `Link`: following `next` shows every record that is there all the while exactly once, whatever is written meanwhile. A page has `limit` records at the most, and fewer where they are large. As `application/x-ndjson` a record is a line, and without `limit` all of them come, as a stream; one that could not be completed is cut, never ended.',
      query: [...new ListParameters(path, fields).described(), new Views(this.resource).described()],
      headers: ['KnownTags', 'PreferCount', 'AcceptEncoding'],
      answers: [
        {
          status: 200,
          description: `The ${words.many}, or a page of them.`,
          headers: ['?ETag', 'Link', 'X-Total-Count', 'Preference-Applied', 'Content-Encoding'],
          content: {
            [JSON_TYPE]: {
              schema: { type: 'array', items: record },
              examples: { some: { summary: `A list of one`, value: [this.example] } },
            },
            [LINES]: { schema: linesOf(record) },
          },
        },
        notModified(['X-Total-Count', 'Link', 'Preference-Applied']),
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
      summary: `Create ${words.one}, or many`,
      text: `As JSON the body is one. As \`application/x-ndjson\` it is an import: each line is one, of each line comes a result, in order, and a bad line stops no other. With \`Idempotency-Key\` either can be sent again, after whatever went wrong, and creates nothing twice.`,
      headers: ['IdempotencyKey', 'PreferMinimal', 'AcceptEncoding'],
      bodies: {
        [JSON_TYPE]: this.body(this.names.fresh),
        [LINES]: { schema: linesOf(schemaRef(this.names.fresh)) },
      },
      answers: [
        {
          status: 200,
          description: 'What became of each line.',
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
      description: 'What was created, and where it is. Under `Prefer: return=minimal` without body.',
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
          description: 'As it is now.',
          headers: ['ETag'],
          content: { [JSON_TYPE]: { schema: this.shown(), examples: this.examples() } },
        },
        notModified([]),
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
      text: 'The body is all that it will be: fields that are absent have no value any more. `id`, `version`, `createdAt` and `updatedAt` may come back as they are. Nothing is created.',
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
      schemas: { ...this.about('whole', 'patch').schemas, JsonPatch: JSON_PATCH_SCHEMA, Json: JSON_SCHEMA },
      errors: [...errors, 'invalid_patch', 'patch_test_failed'],
      id: `patch${words.name}`,
      summary: `Change ${words.one}`,
      text: 'By a JSON Merge Patch (RFC 7396), where null removes a field, or by a JSON Patch (RFC 6902), all of it or nothing. Without `If-Match` it is applied to the newest state, whoever else writes: no change of other fields is lost.',
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
      text: 'From then on it is 404; its id is never given again.',
      answers: [{ status: 204, description: 'It is gone.' }],
      errors: this.conditionErrors(),
    };
  }

  private about(...kinds: SchemaKind[]): Pick<OperationDescription, 'tag' | 'schemas'> {
    const named = kinds.map((kind) => [this.names[kind], this.schemas[kind]]);
    return { tag: this.resource.words.many, schemas: Object.fromEntries(named) };
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
          description: 'As it is now. A write that changes nothing moves no version.',
          headers,
          content: {
            [JSON_TYPE]: { schema: schemaRef(this.names.whole), examples: this.examples() },
          },
        },
        { status: 204, description: 'Done; under `Prefer: return=minimal`.', headers },
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

function notModified(headers: readonly AnsweredHeader[]): AnswerDescription {
  return {
    status: 304,
    description: 'As `If-None-Match` has it: nothing new.',
    headers: ['ETag', ...headers],
  };
}

function firstMember(example: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(example).slice(0, 1));
}

function firstOperation(example: Readonly<Record<string, unknown>>): object {
  const [[name, value] = []] = Object.entries(example);
  return { op: 'replace', path: `/${name}`, value };
}
