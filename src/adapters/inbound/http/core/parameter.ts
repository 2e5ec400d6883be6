import type { Context } from './context.js';
import type { HttpErrorCode, ParameterIssue } from './error-codes.js';
import type { JsonSchema } from './json-schema.js';

/**
 * The parameters of a query, each at most once, in the order of the request. The values of a list are joined by commas.
 */
export type Query = ReadonlyMap<string, string>;

/** A parameter that an operation accepts. */
export interface Parameter {
  /** The name in a {@link Query} and in the OpenAPI document, however the request spells it. */
  readonly name: string;
  /** Whether its values can be separated by commas, given one by one, or both. Default: it can be given once. */
  readonly isList?: boolean;
  /** The error code if only this parameter is invalid. Default: `invalid_parameter`. */
  readonly code?: HttpErrorCode;
  /** Absent: another parameter of the operation describes it. */
  readonly docs?: ParameterDocs;
  /**
   * Returns the issues of a value; empty if it is valid.
   * @param name in the spelling of the request
   */
  issues(value: string, name: string): readonly ParameterIssue[];
}

/** What the OpenAPI document says of a parameter besides its name. */
export interface ParameterDocs {
  readonly description: string;
  readonly required?: true;
  readonly schema: JsonSchema;
  /** How an object is written in a query (OpenAPI 3.1 section 4.8.12.2). */
  readonly style?: 'deepObject';
  /** Whether each member of an object is a parameter of its own. */
  readonly explode?: true;
  /** The schemas of the values behind operators that follow a member of an object. */
  readonly 'x-operators'?: Readonly<Record<string, JsonSchema>>;
  readonly example: unknown;
}

/** The parameters of an operation. Validation, the messages and the OpenAPI document read this one table. */
export interface Parameters {
  /** In the order of the document. */
  readonly all: readonly Parameter[];
  /** Returns the parameter with a name; undefined if there is none. It may depend on the headers. */
  find(name: string, ctx: Context): Parameter | undefined;
  /** Names those that there are, for the message about an unknown one: completes "There is no parameter NAME here:". */
  hint(unknown: string): string;
}

/** A table of parameters whose names are fixed. */
export function parametersOf(...all: readonly Parameter[]): Parameters {
  const byName = new Map(all.map((one) => [one.name, one]));
  const names = [...byName.keys()].join(', ') || 'none';
  return {
    all,
    find: (name) => byName.get(name),
    hint: () => `there ${all.length > 1 ? 'are' : 'is'} ${names}`,
  };
}

export const NO_PARAMETERS = parametersOf();
