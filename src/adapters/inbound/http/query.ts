import type { ErrorCode, Fault } from '../../../domain/errors.js';
import type { Context } from './context.js';
import { invalidParameters, parameterFault } from './faults.js';

/** The parameters of the query, each at most once. */
export type Query = ReadonlyMap<string, string>;

/** A parameter that an operation takes. */
export interface Parameter {
  readonly name: string;
  /** What the answer's code is where nothing but this parameter is wrong; absent: `invalid_parameter`. */
  readonly code?: ErrorCode;
  /** What is wrong with a value, if anything. */
  fault(value: string): Fault | undefined;
}

/**
 * Reads the query, with every fault in it told at once.
 * @throws CatalogueError `unknown_parameter`, `invalid_parameter`, or the code of the one parameter that is wrong
 */
export function readQuery(ctx: Context, parameters: readonly Parameter[]): Query {
  const query = new Map<string, string>();
  const faults: [ErrorCode, Fault][] = [];
  for (const pair of ctx.querystring.split('&')) {
    if (pair === '') continue;
    const [rawName = '', ...rest] = pair.split('=');
    const name = decode(rawName) ?? rawName;
    const parameter = parameters.find((known) => known.name === name);
    const value = decode(rest.join('='));
    const fault = faultOf(name, value, parameter, query);
    if (fault) faults.push([codeOf(fault, parameter), fault]);
    else query.set(name, value ?? '');
  }
  if (faults.length > 0) throw invalidParameters(faults);
  return query;
}

export function invalid(name: string, code: Fault['code'], what: string): Fault {
  return parameterFault('query', name, code, `The parameter ${name} ${what}.`);
}

function faultOf(
  name: string,
  value: string | undefined,
  parameter: Parameter | undefined,
  query: Query,
): Fault | undefined {
  if (!parameter) {
    return parameterFault(
      'query',
      name,
      'unknown_parameter',
      `There is no parameter ${JSON.stringify(name)} here.`,
    );
  }
  if (value === undefined) return invalid(name, 'invalid_format', 'is not percent-encoded UTF-8');
  if (query.has(name)) return invalid(name, 'duplicate_value', 'is given more than once');
  return parameter.fault(value);
}

function codeOf(fault: Fault, parameter: Parameter | undefined): ErrorCode {
  if (fault.code === 'unknown_parameter') return fault.code;
  return fault.code === 'duplicate_value' ? 'invalid_parameter' : (parameter?.code ?? 'invalid_parameter');
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
