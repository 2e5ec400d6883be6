import type { ResponseErrorCode } from '../response/error-codes.js';
import type { RequestHeader, ResponseHeader } from './header-objects.js';
import type { JsonSchema } from './json-schema.js';

/** What is said of an operation beside what can be seen from it. The words are for whoever writes a client. */
export interface OperationDescription {
  /** Unique among all; clients name their functions by it. */
  readonly id: string;
  /** Of what it is about. */
  readonly tag: string;
  readonly summary: string;
  /** CommonMark. */
  readonly text?: string;
  readonly query?: readonly ParameterDescription[];
  readonly headers?: readonly RequestHeader[];
  /** Those that it does not go without. */
  readonly requiredHeaders?: readonly RequestHeader[];
  /** By media type. */
  readonly bodies?: Readonly<Record<string, ContentDescription>>;
  readonly answers: readonly AnswerDescription[];
  /** How it can fail beside the ways in which every such operation can. */
  readonly errors?: readonly ResponseErrorCode[];
  /** How its errors look beside the way in which all do: the name of a schema. */
  readonly errorShape?: string;
  /** What its errors carry beside what all do. */
  readonly errorHeaders?: readonly ResponseHeader[];
  /** The credentials that it takes, where those are not a bearer's. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** Those that are named in it. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
}

/** Of the query. */
export interface ParameterDescription {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** OpenAPI 3.1 section 4.8.12.2: how an array or object stands in a query. */
  readonly style?: 'form';
  readonly explode?: boolean;
  readonly example?: unknown;
}

export interface ContentDescription {
  readonly schema: JsonSchema;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

export interface AnswerDescription {
  readonly status: number;
  readonly description: string;
  readonly headers?: readonly ResponseHeader[];
  /** Those that are there sometimes, though elsewhere always. */
  readonly optionalHeaders?: readonly ResponseHeader[];
  /** By media type. */
  readonly content?: Readonly<Record<string, ContentDescription>>;
  /** By name: what can be done next with what the answer tells. */
  readonly links?: Readonly<Record<string, LinkDescription>>;
}

/** To a request whose `If-None-Match` names what there is. */
export function notModified(...headers: readonly ResponseHeader[]): AnswerDescription {
  return {
    status: 304,
    description: 'Not modified: the client already has the current state, according to `If-None-Match`.',
    headers: ['ETag', ...headers],
  };
}

/** Of reading a document that is asked for again, by its tag. */
export function describedDocument(
  { id, summary, text }: Pick<OperationDescription, 'id' | 'summary' | 'text'>,
  description: string,
  content: NonNullable<AnswerDescription['content']>,
): OperationDescription {
  return {
    id,
    tag: 'Documents',
    summary,
    ...(text !== undefined && { text }),
    headers: ['KnownTags', 'AcceptEncoding'],
    answers: [{ status: 200, description, headers: ['ETag', 'Content-Encoding'], content }, notModified()],
  };
}

/** OpenAPI 3.1 section 4.8.20. */
export interface LinkDescription {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Lines of JSON (JSON Schema, validation, section 8): OpenAPI has no word for them before its version 3.2. */
export function linesOf(each: JsonSchema): JsonSchema {
  return {
    type: 'string',
    contentMediaType: 'application/x-ndjson',
    contentSchema: { type: 'array', items: each },
  };
}

/** A schema of the document, by its name. */
export function schemaRef(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** How a resource is spoken of to whoever writes a client. */
export interface ResourceWords {
  /** In names of schemas and operations: `Product`. */
  readonly name: string;
  /** In sentences, with its article: `a product`. */
  readonly one: string;
  readonly many: string;
  readonly about: string;
  /** What a client could send. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** The heading over all that can be done with the resource. */
export function tagOf({ many }: ResourceWords): string {
  return many.charAt(0).toUpperCase() + many.slice(1);
}
