import type { Fault } from '../../../domain/errors.js';
import type { Context } from './context.js';
import { invalidParameters, parameterFault } from './faults.js';

/** The parameters of the query, each at most once. */
export type Query = ReadonlyMap<string, string>;

/**
 * @param known the names that the operation takes
 * @throws CatalogueError `unknown_parameter`, `invalid_parameter`
 */
export function readQuery(ctx: Context, known: readonly string[]): Query {
  const query = new Map<string, string>();
  const faults: Fault[] = [];
  for (const pair of ctx.querystring.split('&')) {
    if (pair === '') continue;
    const [rawName = '', ...rest] = pair.split('=');
    const name = decode(rawName);
    const value = decode(rest.join('='));
    if (name === undefined || !known.includes(name)) faults.push(unknown(name ?? rawName));
    else if (value === undefined)
      faults.push(invalid(name, 'invalid_format', 'is not percent-encoded UTF-8'));
    else if (query.has(name)) faults.push(invalid(name, 'duplicate_value', 'is given more than once'));
    else query.set(name, value);
  }
  if (faults.length > 0) throw invalidParameters(faults);
  return query;
}

export function invalid(name: string, code: Fault['code'], what: string): Fault {
  return parameterFault('query', name, code, `The parameter ${name} ${what}.`);
}

function unknown(name: string): Fault {
  return parameterFault(
    'query',
    name,
    'unknown_parameter',
    `There is no parameter ${JSON.stringify(name)} here.`,
  );
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
