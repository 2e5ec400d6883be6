import type { ParameterDescription } from '../core/description.js';
import type { ResponseErrorCode } from '../core/error-codes.js';
import type { JsonSchema } from '../core/json-schema.js';
import type { RequestHeader, ResponseHeader } from './header-objects.js';

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
  headers: ['ETag', 'Content-Location', 'Link', 'X-Total-Count', 'Preference-Applied'],
};

/** A Link Object (OpenAPI 3.1 section 4.8.20). */
export interface LinkDescription {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}
