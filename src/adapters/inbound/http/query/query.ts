import type { IssueCode } from '../../../../domain/errors.js';
import type { Context } from '../context.js';
import type { HttpErrorCode } from '../response/error-codes.js';
import { invalidParameters, type ParameterIssue, parameterIssue } from '../response/http-error.js';
import type { HttpIssueCode } from '../response/issue-codes.js';

/** The parameters of a query, each at most once, in the order of the request. */
export type Query = ReadonlyMap<string, string>;

/** A parameter that an operation accepts. */
export interface Parameter {
  /** The error code if only this parameter is invalid. Default: `invalid_parameter`. */
  readonly code?: HttpErrorCode;
  /** Returns the issues of a value; empty if it is valid. */
  issues(value: string): readonly ParameterIssue[];
}

/** Returns the parameter with a name; undefined if the operation has none. */
export type FindParameter = (name: string) => Parameter | undefined;

/** Finds no parameter, for operations without any. */
export const noParameter: FindParameter = () => undefined;

const NO_PARAMETERS: Query = new Map();

type CodedIssue = readonly [HttpErrorCode, ParameterIssue];

/** The maximum number of issues in a response. */
const MAX_ISSUES = 100;

/**
 * Reads the query and reports all its issues at once.
 * @throws HttpError `unknown_parameter`, `invalid_parameter`, or the code of the only invalid parameter
 */
export function readQuery(ctx: Context, find: FindParameter): Query {
  const { querystring } = ctx;
  if (querystring === '') return NO_PARAMETERS;
  const query = new Map<string, string>();
  const issues: CodedIssue[] = [];
  for (const pair of querystring.split('&')) {
    if (pair === '') continue;
    const [rawName = '', ...rest] = pair.split('=');
    const name = decode(rawName) ?? rawName;
    const value = decode(rest.join('='));
    issues.push(...issuesOf(name, value, find(name), query));
    query.set(name, value ?? '');
  }
  if (issues.length > 0) throw invalidParameters(issues.slice(0, MAX_ISSUES));
  return query;
}

/** @param what completes the sentence "The parameter NAME …" */
export function invalid(name: string, code: HttpIssueCode, what: string): ParameterIssue {
  return parameterIssue('query', name, code, `The parameter ${name} ${what}.`);
}

function issuesOf(
  name: string,
  value: string | undefined,
  parameter: Parameter | undefined,
  query: Query,
): readonly CodedIssue[] {
  if (!parameter) return [['unknown_parameter', unknown(name)]];
  if (query.has(name))
    return [['invalid_parameter', invalid(name, 'duplicate_value', 'is given more than once')]];
  const issues =
    value === undefined
      ? [invalid(name, 'invalid_format', 'is not percent-encoded UTF-8')]
      : parameter.issues(value);
  return issues.map((issue) => [parameter.code ?? 'invalid_parameter', issue]);
}

function unknown(name: string): ParameterIssue {
  const message = `There is no parameter ${JSON.stringify(name)} here.`;
  return parameterIssue('query', name, 'unknown_parameter', message);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** The issues of a list of names, each kind at most once. */
export function nameListIssues(
  parameter: string,
  names: readonly string[],
  known: readonly string[],
): ParameterIssue[] {
  const issues: ParameterIssue[] = [];
  const isUnknown = names.some((name) => name !== '' && !known.includes(name));
  if (names.includes('')) issues.push(invalid(parameter, 'too_short', 'holds an empty name'));
  if (isUnknown)
    issues.push(invalid(parameter, 'unknown_field', `takes ${known.join(', ')}, separated by commas`));
  return issues;
}

const WHOLE_NUMBER = /^-?(?:0|[1-9]\d*)$/;

/** The issue of a text that must be an integer in decimal digits, if any. */
export function wholeNumberIssue(
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): IssueCode | undefined {
  if (!WHOLE_NUMBER.test(text)) return 'invalid_type';
  return Number(text) >= min && Number(text) <= max ? undefined : 'out_of_range';
}
