import type { ResponseErrorCode } from '../response/error-codes.js';
import type { RequestHeader, ResponseHeader } from './header-objects.js';
import type { JsonSchema } from './json-schema.js';

/** The documentation of an operation, for client developers. The rest follows from the operation itself. */
export interface OperationDescription {
  /** Unique. Generated clients name their functions by it. */
  readonly id: string;
  /** The group of operations to which it belongs. */
  readonly tag: string;
  readonly summary: string;
  /** CommonMark. */
  readonly text?: string;
  readonly query?: readonly ParameterDescription[];
  readonly headers?: readonly RequestHeader[];
  /** The headers that the operation requires. */
  readonly requiredHeaders?: readonly RequestHeader[];
  /** By media type. */
  readonly bodies?: Readonly<Record<string, ContentDescription>>;
  readonly responses: readonly ResponseDescription[];
  /** The errors of this operation, in addition to those that follow from its policy. */
  readonly errors?: readonly ResponseErrorCode[];
  /** The name of an additional schema of its errors. */
  readonly errorShape?: string;
  /** The headers of its errors, in addition to those of all errors. */
  readonly errorHeaders?: readonly ResponseHeader[];
  /** The credentials that it accepts, if not a bearer token. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** The schemas to which it refers. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
}

/** A parameter of the query. */
export interface ParameterDescription {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** How an array or object is written in a query (OpenAPI 3.1 section 4.8.12.2). */
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
  /** Headers that this response may lack, although other responses always have them. */
  readonly optionalHeaders?: readonly ResponseHeader[];
  /** By media type. */
  readonly content?: Readonly<Record<string, ContentDescription>>;
  /** The possible next requests, by name. */
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

/** A Link Object (OpenAPI 3.1 section 4.8.20). */
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

/** The tag of the operations of a resource. */
export function tagOf({ many }: ResourceDocs): string {
  return many.charAt(0).toUpperCase() + many.slice(1);
}
