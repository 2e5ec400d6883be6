import { invalid } from './query.js';
import type { ParameterIssue } from './response/http-error.js';

/** What is wrong with the names in the value of a parameter; each kind of fault once. */
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
