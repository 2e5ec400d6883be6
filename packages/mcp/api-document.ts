import type { JSONObject, JSONValue } from '@modelcontextprotocol/server';
import { UnknownService } from '#packages/remote/errors.js';

/** A JSON Schema. */
export type Schema = JSONObject;

export interface Parameter {
  readonly name: string;
  readonly description?: string;
  readonly schema: Schema;
  /** The operators that can follow a member of an object. */
  readonly operators?: readonly string[];
}

export interface Changes {
  readonly schema: Schema;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly removable: readonly string[];
}

interface Operation {
  readonly operationId?: string;
  readonly parameters?: unknown;
  readonly requestBody?: unknown;
}

/**
 * Keywords that say what a value must be. Examples, titles and extensions cost a model more than they tell it, and so do
 * patterns and formats: the description has the same rule in words.
 */
const KEYWORDS = new Set([
  ...['type', 'description', 'enum', 'const', 'default'],
  ...['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  ...['items', 'minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum'],
  ...['anyOf', 'oneOf', 'allOf'],
]);
/** Keywords whose value is a schema, or an array of schemas. */
const NESTING = new Set(['items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf']);
/** The limit of references and levels on the way to a part of a schema. A schema that contains itself is over it. */
const MAX_DEPTH = 50;

/** The OpenAPI document of the service, for the schemas of tools. The service alone validates the records. */
export class ApiDocument {
  private readonly operations: ReadonlyMap<string, Operation>;

  /** @param document an OpenAPI document whose references are local */
  constructor(private readonly document: unknown) {
    const operations = Object.values(membersOf<Schema>(membersOf(document)['paths']))
      .flatMap((item) => Object.values(membersOf<Operation>(item)))
      .filter(isSchema);
    this.operations = new Map(operations.map((operation) => [`${operation['operationId']}`, operation]));
  }

  /** The title and version of the API. */
  get info(): { readonly title: string; readonly version: string } {
    const { title = '', version = '' } = membersOf(membersOf(this.document)['info']);
    return { title: `${title}`, version: `${version}` };
  }

  /**
   * Returns the schema of a request body, complete in itself.
   * @throws UnknownService if the document lacks it, or it contains itself
   */
  body(operationId: string, mediaType: string): Schema {
    const content = membersOf(membersOf(this.operation(operationId).requestBody)['content']);
    const { schema } = membersOf<JSONValue>(content[mediaType]);
    if (!isSchema(schema)) throw unknownService(`${operationId} with ${mediaType}`);
    return this.compact(schema);
  }

  /**
   * Returns the schema of a merge patch of what a creation may set, and the names of the fields that it may remove. The
   * interface also takes back what the service sets, such as `id`, unchanged.
   * @throws UnknownService if the document lacks it
   */
  changes(patchId: string, createId: string): Changes {
    const schema = this.body(patchId, 'application/merge-patch+json');
    const creation = this.body(createId, 'application/json');
    const settable = membersOf<Schema>(creation['properties']);
    const required = Array.isArray(creation['required']) ? creation['required'] : [];
    const properties = Object.entries(membersOf<Schema>(schema['properties']));
    return {
      schema,
      properties: Object.fromEntries(properties.filter(([name]) => Object.hasOwn(settable, name))),
      removable: Object.keys(settable).filter((name) => !required.includes(name)),
    };
  }

  has(operationId: string): boolean {
    return this.operations.has(operationId);
  }

  /** Returns the query parameters of an operation. @throws UnknownService if the document lacks the operation */
  queryParameters(operationId: string): Parameter[] {
    const { parameters } = this.operation(operationId);
    return (Array.isArray(parameters) ? parameters : [])
      .map((parameter) => this.resolve(membersOf(parameter), 0))
      .flatMap(({ in: place, name, schema, description, 'x-operators': operators }) =>
        place === 'query' && typeof name === 'string' && isSchema(schema)
          ? [
              {
                name,
                schema: this.compact(schema),
                ...(typeof description === 'string' && { description }),
                ...(operators !== undefined && { operators: Object.keys(membersOf(operators)) }),
              },
            ]
          : [],
      );
  }

  private operation(operationId: string): Operation {
    const operation = this.operations.get(operationId);
    if (!operation) throw unknownService(operationId);
    return operation;
  }

  /** Returns a schema without references and without keywords that do not help a model. */
  private compact(schema: Schema, depth = 0): Schema {
    const entries = Object.entries(this.resolve(schema, depth))
      .filter(([keyword]) => KEYWORDS.has(keyword))
      .map(([keyword, value]) => [keyword, this.compactValue(keyword, plain(keyword, value), depth + 1)]);
    return Object.fromEntries(entries);
  }

  private compactValue(keyword: string, value: JSONValue, depth: number): JSONValue {
    const compactPart = (part: JSONValue) => (isSchema(part) ? this.compact(part, depth) : part);
    if (keyword === 'properties') {
      const properties = Object.entries(membersOf<JSONValue>(value));
      return Object.fromEntries(properties.map(([name, property]) => [name, compactPart(property)]));
    }
    if (!NESTING.has(keyword)) return value;
    return Array.isArray(value) ? value.map(compactPart) : compactPart(value);
  }

  /** RFC 6901: follows `$ref`. */
  private resolve(schema: Schema, depth: number): Schema {
    if (depth > MAX_DEPTH) throw unknownService(`schemas of at most ${MAX_DEPTH} levels`);
    const { $ref: reference } = schema;
    if (typeof reference !== 'string') return schema;
    const steps = reference
      .slice('#/'.length)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const target = steps.reduce((part, step) => membersOf<unknown>(part)[step], this.document);
    const { $ref: _, ...siblings } = schema;
    return { ...this.resolve(membersOf(target), depth + 1), ...siblings };
  }
}

/**
 * Returns the value of a keyword without null among its types and values: gateways between models and tools drop a tool
 * that has several types in one place. The service takes null nevertheless.
 */
function plain(keyword: string, value: JSONValue): JSONValue {
  if (!Array.isArray(value)) return value;
  if (keyword === 'enum') return value.filter((one) => one !== null);
  if (keyword !== 'type') return value;
  const types = value.filter((type) => type !== 'null');
  return types.length === 1 ? (types[0] as JSONValue) : types;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function membersOf<Value>(value: unknown): Readonly<Record<string, Value>> {
  return (isSchema(value) ? value : {}) as Readonly<Record<string, Value>>;
}

function unknownService(missing: string): UnknownService {
  return new UnknownService(
    `The OpenAPI document at this address lacks ${missing}: it is no product catalogue, or of another version.`,
  );
}
