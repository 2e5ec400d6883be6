import type { Context } from './context.js';
import type { HttpErrorCode, ParameterIssue } from './error-codes.js';

/**
 * The parameters of a query, each at most once, in the order of the request. The values of a list are joined by commas.
 */
export type Query = ReadonlyMap<string, string>;

/** A parameter that an operation accepts. */
export interface Parameter {
  /** The name in a {@link Query}, if it can be written in several ways. Default: the name in the request. */
  readonly name?: string;
  /** Whether its values can be separated by commas, given one by one, or both. Default: it can be given once. */
  readonly isList?: boolean;
  /** The error code if only this parameter is invalid. Default: `invalid_parameter`. */
  readonly code?: HttpErrorCode;
  /** Returns the issues of a value; empty if it is valid. */
  issues(value: string): readonly ParameterIssue[];
}

/** Returns the parameter with a name; undefined if the operation has none. It may depend on the headers. */
export type FindParameter = (name: string, ctx: Context) => Parameter | undefined;

/** Returns the names of the parameters that there are, for the message about an unknown one. */
export type NameParameters = (unknown: string) => string;

/** Finds no parameter, for operations without any. */
export const noParameter: FindParameter = () => undefined;
