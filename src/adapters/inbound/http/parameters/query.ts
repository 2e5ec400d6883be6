import type { IssueCode } from '../../../../domain/errors.js';
import { readInteger } from '../../../../shared/json.js';
import type { Context } from '../core/context.js';
import type { HttpErrorCode, HttpIssueCode, ParameterIssue } from '../core/error-codes.js';
import { invalidParameters, parameterIssue } from '../core/http-error.js';
import type { Parameter, Parameters, Query } from '../core/parameter.js';

const EMPTY: Query = new Map();

type CodedIssue = readonly [HttpErrorCode, ParameterIssue];

/** The maximum number of issues in a response. */
const MAX_QUERY_ISSUES = 100;

/** The table of parameters, of which a request that is for several operations has no hint. */
type Known = Pick<Parameters, 'find'> & Partial<Pick<Parameters, 'hint'>>;

/**
 * Reads the query and reports all its issues at once.
 * @throws HttpError `unknown_parameter`, `invalid_parameter`, or the code of the only invalid parameter
 */
export function readQuery(ctx: Context, known: Known): Query {
  const { querystring } = ctx;
  if (querystring === '') return EMPTY;
  const occurrences: Occurrence[] = [];
  const firstOf = new Map<string, Occurrence>();
  for (const pair of querystring.split('&')) {
    if (pair === '') continue;
    const { name, isDecoded, value } = decodePair(pair);
    const parameter = isDecoded ? parameterNamed(name, (one) => known.find(one, ctx)) : undefined;
    const key = parameter?.name ?? name;
    const first = firstOf.get(key);
    if (first && parameter?.isList) first.values.push(value);
    else {
      const occurrence = { name, parameter, values: [value], first };
      occurrences.push(occurrence);
      if (!first) firstOf.set(key, occurrence);
    }
  }
  const issues = occurrences.flatMap((one) => issuesOf(one, known));
  if (issues.length > 0) throw invalidParameters(issues.slice(0, MAX_QUERY_ISSUES));
  const query = new Map<string, string>();
  for (const [key, { values }] of firstOf) query.set(key, values.join(','));
  return query;
}

/** The name of a list may end in `[]`, as some clients write it. */
function parameterNamed(name: string, find: (name: string) => Parameter | undefined): Parameter | undefined {
  const found = find(name);
  if (found || !name.endsWith('[]')) return found;
  const list = find(name.slice(0, -2));
  return list?.isList ? list : undefined;
}

/** @param what completes the sentence "The parameter NAME …" */
export function invalid(name: string, code: HttpIssueCode, what: string): ParameterIssue {
  return parameterIssue('query', name, code, `The parameter ${name} ${what}.`);
}

/** One parameter of the request; all of them together if it is a list. */
interface Occurrence {
  /** In the spelling of the request. */
  readonly name: string;
  readonly parameter: Parameter | undefined;
  /** One value, or those of a list. Undefined stands for a value that is not percent-encoded UTF-8. */
  readonly values: (string | undefined)[];
  /** The first occurrence of the same parameter, if this is not the first. It may have another spelling. */
  readonly first: Occurrence | undefined;
}

function issuesOf({ name, parameter, values, first }: Occurrence, known: Known): readonly CodedIssue[] {
  if (!parameter) return [['unknown_parameter', unknown(name, known.hint?.(name))]];
  if (first) return [['invalid_parameter', repeated(name, first.name)]];
  const decoded = values.filter((value) => value !== undefined);
  const spelling = parameter.isList ? name.replace(/\[\]$/, '') : name;
  const issues = decoded.length > 0 ? [...parameter.issues(decoded.join(','), spelling)] : [];
  if (decoded.length < values.length) issues.unshift(invalid(name, 'invalid_format', 'is not percent-encoded UTF-8'));
  return issues.map((issue) => [parameter.code ?? 'invalid_parameter', issue]);
}

function repeated(name: string, first: string): ParameterIssue {
  const what = name === first ? 'is given more than once' : `is the same as ${first}, which is given too`;
  return invalid(name, 'duplicate_value', what);
}

function unknown(name: string, hint: string | undefined): ParameterIssue {
  const message = `There is no parameter ${JSON.stringify(name)} here${hint ? `: ${hint}` : ''}.`;
  return parameterIssue('query', name, 'unknown_parameter', message);
}

/** Decodes `name=value`. A name that is not percent-encoded UTF-8 stays as it is; such a value is undefined. */
function decodePair(pair: string): DecodedPair {
  const end = pair.indexOf('=');
  const raw = end < 0 ? pair : pair.slice(0, end);
  const name = decode(raw);
  const value = end < 0 ? '' : decode(pair.slice(end + 1));
  return { name: name ?? raw, isDecoded: name !== undefined, value };
}

interface DecodedPair {
  readonly name: string;
  /** False if the name is not percent-encoded UTF-8; it is then as sent. */
  readonly isDecoded: boolean;
  readonly value: string | undefined;
}

function decode(text: string): string | undefined {
  // Most names and values have nothing to decode, and the test is faster.
  if (!/[%+]/.test(text)) return text;
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
  if (isUnknown) issues.push(invalid(parameter, 'unknown_field', `takes ${known.join(', ')}, separated by commas`));
  return issues;
}

/** The issue of a text that must be an integer in decimal digits, if any. */
export function wholeNumberIssue(
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): IssueCode | undefined {
  const number = readInteger(text);
  if (number === undefined) return 'invalid_type';
  return number >= min && number <= max ? undefined : 'out_of_range';
}

/**
 * Caches the results of a pure function of a text. A full cache is emptied, so that clients that send ever new texts
 * cost no more than without a cache.
 */
export class TextCache<Result> {
  private readonly results = new Map<string, Result>();

  /** @param maxLength longer texts are not cached */
  constructor(
    private readonly maxEntries = 100,
    private readonly maxLength = 200,
  ) {}

  get(text: string, compute: (text: string) => Result): Result {
    const known = this.results.get(text);
    if (known !== undefined) return known;
    const result = compute(text);
    if (text.length > this.maxLength) return result;
    if (this.results.size >= this.maxEntries) this.results.clear();
    this.results.set(text, result);
    return result;
  }
}
