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
  readonly text: string;
  readonly query?: readonly ParameterDescription[];
  readonly headers?: readonly RequestHeader[];
  /** By media type. */
  readonly bodies?: Readonly<Record<string, ContentDescription>>;
  readonly responses: readonly ResponseDescription[];
  /** The errors of this operation, in addition to those that follow from its policy. */
  readonly errors?: readonly ResponseErrorCode[];
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
  readonly example: unknown;
  /** The name in the components of the document, if operations share the parameter. */
  readonly sharedAs?: string;
}

export interface ContentDescription {
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
  /** The possible next requests, by name. */
  readonly links?: Readonly<Record<string, LinkDescription>>;
}

/** The response if `If-None-Match` names the current state. */
export const NOT_MODIFIED: ResponseDescription = {
  status: 304,
  sharedAs: 'NotModified',
  description: 'The client already has the current state, according to `If-None-Match`.',
  headers: ['ETag', 'Link', 'X-Total-Count', 'Preference-Applied'],
};

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
  readonly singular: string;
  /** In sentences: `products`. Its operations have this tag, capitalized. */
  readonly plural: string;
  /** What the records are, and what clients should know. CommonMark. */
  readonly description: string;
  /** A valid body. */
  readonly example: Readonly<Record<string, unknown>>;
  /** The names of schemas for the objects, list elements or choices in these fields: `price` is a `Price`. */
  readonly schemaNames?: Readonly<Record<string, string>>;
}

/** The tag of the operations of a resource. */
export function tagOf({ plural }: ResourceDocs): string {
  return plural.charAt(0).toUpperCase() + plural.slice(1);
}
