import type { ResponseErrorCode } from '../response/error-codes.js';
import type { RequestHeader, ResponseHeader } from './header-objects.js';
import type { JsonSchema } from './json-schema.js';

/** The documentation of an operation, for client developers, beside what follows from the operation itself. */
export interface OperationDescription {
  /** Unique. Generated clients name their functions by it. */
  readonly id: string;
  /** The subject of the operation. */
  readonly tag: string;
  readonly summary: string;
  /** CommonMark. */
  readonly text?: string;
  readonly query?: readonly ParameterDescription[];
  readonly headers?: readonly RequestHeader[];
  /** The headers without which the operation is refused. */
  readonly requiredHeaders?: readonly RequestHeader[];
  /** By media type. */
  readonly bodies?: Readonly<Record<string, ContentDescription>>;
  readonly responses: readonly ResponseDescription[];
  /** The errors of this operation, beside those of every similar operation. */
  readonly errors?: readonly ResponseErrorCode[];
  /** The name of a schema that its errors also have. */
  readonly errorShape?: string;
  /** The headers of its errors, beside those of all errors. */
  readonly errorHeaders?: readonly ResponseHeader[];
  /** The credentials that it takes, if not a bearer token. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** The schemas that it names. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
}

/** A parameter of the query. */
export interface ParameterDescription {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** OpenAPI 3.1 section 4.8.12.2: how an array or object is written in a query. */
  readonly style?: 'form';
  readonly explode?: boolean;
  readonly example?: unknown;
}

export interface ContentDescription {
  readonly schema: JsonSchema;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

export interface ResponseDescription {
  readonly status: number;
  readonly description: string;
  readonly headers?: readonly ResponseHeader[];
  /** Headers that this response does not always have, though others do. */
  readonly optionalHeaders?: readonly ResponseHeader[];
  /** By media type. */
  readonly content?: Readonly<Record<string, ContentDescription>>;
  /** By name: the possible next requests. */
  readonly links?: Readonly<Record<string, LinkDescription>>;
}

/** The response if `If-None-Match` names the current state. */
export function notModified(...headers: readonly ResponseHeader[]): ResponseDescription {
  return {
    status: 304,
    description: 'Not modified: the client already has the current state, according to `If-None-Match`.',
    headers: ['ETag', ...headers],
  };
}

/** OpenAPI 3.1 section 4.8.20. */
export interface LinkDescription {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** How the documentation names a resource. */
export interface ResourceDocs {
  /** In names of schemas and operations: `Product`. */
  readonly name: string;
  /** In sentences, with its article: `a product`. */
  readonly one: string;
  readonly many: string;
  readonly about: string;
  /** A valid body. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** The heading of the operations of the resource. */
export function tagOf({ many }: ResourceDocs): string {
  return many.charAt(0).toUpperCase() + many.slice(1);
}
