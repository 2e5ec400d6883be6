import type { FaultCode } from '../../../../domain/errors.js';
import type { Context } from '../context.js';
import type { HttpErrorCode } from '../response/error-codes.js';
import { invalidParameters, type ParameterIssue, parameterIssue } from '../response/http-error.js';
import type { HttpIssueCode } from '../response/issue-codes.js';

/** The parameters of the query, each at most once, in the order of the request. */
export type Query = ReadonlyMap<string, string>;

/** A parameter that an operation takes. */
export interface Parameter {
  /** The error code if nothing but this parameter is invalid. Default: `invalid_parameter`. */
  readonly code?: HttpErrorCode;
  /** The issues of a value. Empty if it is valid. */
  faults(value: string): readonly ParameterIssue[];
}

/** Finds a parameter of an operation by its name. */
export type FindParameter = (name: string) => Parameter | undefined;

/** For an operation without parameters. */
export const noParameter: FindParameter = () => undefined;

type CodedFault = readonly [HttpErrorCode, ParameterIssue];

/** At most this many issues are reported: an address can contain more of them than anyone reads. */
const MAX_FAULTS = 100;

/**
 * Reads the query and reports all its issues at once.
 * @throws HttpError `unknown_parameter`, `invalid_parameter`, or the code of the only invalid parameter
 */
export function readQuery(ctx: Context, find: FindParameter): Query {
  const query = new Map<string, string>();
  const faults: CodedFault[] = [];
  for (const pair of ctx.querystring.split('&')) {
    if (pair === '') continue;
    const [rawName = '', ...rest] = pair.split('=');
    const name = decode(rawName) ?? rawName;
    const value = decode(rest.join('='));
    faults.push(...faultsOf(name, value, find(name), query));
    query.set(name, value ?? '');
  }
  if (faults.length > 0) throw invalidParameters(faults.slice(0, MAX_FAULTS));
  return query;
}

export function invalid(name: string, code: HttpIssueCode, what: string): ParameterIssue {
  return parameterIssue('query', name, code, `The parameter ${name} ${what}.`);
}

function faultsOf(
  name: string,
  value: string | undefined,
  parameter: Parameter | undefined,
  query: Query,
): readonly CodedFault[] {
  if (!parameter) return [['unknown_parameter', unknown(name)]];
  if (query.has(name))
    return [['invalid_parameter', invalid(name, 'duplicate_value', 'is given more than once')]];
  const faults =
    value === undefined
      ? [invalid(name, 'invalid_format', 'is not percent-encoded UTF-8')]
      : parameter.faults(value);
  return faults.map((fault) => [parameter.code ?? 'invalid_parameter', fault]);
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

/** The issues of a list of names, each kind once. */
export function nameListFaults(
  parameter: string,
  names: readonly string[],
  known: readonly string[],
): ParameterIssue[] {
  const faults: ParameterIssue[] = [];
  const isUnknown = names.some((name) => name !== '' && !known.includes(name));
  if (names.includes('')) faults.push(invalid(parameter, 'too_short', 'holds an empty name'));
  if (isUnknown)
    faults.push(invalid(parameter, 'unknown_field', `takes ${known.join(', ')}, separated by commas`));
  return faults;
}

const WHOLE_NUMBER = /^-?(?:0|[1-9]\d*)$/;

/** The issue of a text that has to be a whole number in decimal digits, if any. */
export function wholeNumberFault(
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): FaultCode | undefined {
  if (!WHOLE_NUMBER.test(text)) return 'invalid_type';
  return Number(text) >= min && Number(text) <= max ? undefined : 'out_of_range';
}
