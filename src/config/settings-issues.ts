import type Joi from 'joi';
import { describeSettings, metaOf, SETTING_NAMES, type SettingDescription } from './settings-schema.js';
import { shownValue } from './shown-value.js';

/** Returns lines for a person, without secrets: for each wrong setting what is allowed, and the value that was given. */
export function issueLines(
  details: readonly Joi.ValidationErrorItem[],
  values: Readonly<Record<string, unknown>>,
): string[] {
  const lines = onePerName(details).flatMap((detail) => linesOf(detail, values));
  // joi takes this name for the prototype.
  return Object.hasOwn(values, '__proto__') ? [...lines, unknownName('__proto__')] : lines;
}

function onePerName(details: readonly Joi.ValidationErrorItem[]): Joi.ValidationErrorItem[] {
  return details.filter((detail, at) => details.findIndex(({ path }) => path[0] === detail.path[0]) === at);
}

/** The errors of joi whose own words do not say what is allowed. */
const PLAIN_ERRORS = /^(any\.only|boolean\.base|number\.\w+)$/;

/** A setting that is a list can have several issues. */
function linesOf(detail: Joi.ValidationErrorItem, values: Readonly<Record<string, unknown>>): string[] {
  const name = detail.path.join('.');
  if (detail.type === 'object.unknown') return [unknownName(name)];
  const value = values[name];
  if (value === undefined || value === '') return detail.message.split('\n');
  const lines = wordsOf(name, detail).split('\n');
  // Each line about a list quotes the element that it is about. Of an ambiguous URL nothing is shown.
  if (detail.type === 'names' || detail.type === 'url.ambiguous') return lines;
  const shown = `it is "${shownValue(value, metaOf(name).secrecy)}"`;
  const allowed: unknown[] = detail.type === 'any.only' ? detail.context?.['valids'] : [];
  const meant = similarValue(String(value), allowed.map(String));
  return lines.map((line) => `${line}; ${shown}${meant ? `; is ${meant} meant?` : ''}`);
}

function unknownName(name: string): string {
  const meant = similarName(name, SETTING_NAMES);
  return `${shownValue(name)}: there is no setting of this name${meant ? `; is ${meant} meant?` : ''}`;
}

function wordsOf(name: string, { type, message, context }: Joi.ValidationErrorItem): string {
  const setting = describeSettings().find((one) => one.name === name);
  const limit = context?.['limit'];
  const isOfAll = limit === undefined || limit === (type === 'number.max' ? setting?.maximum : setting?.minimum);
  return setting && isOfAll && PLAIN_ERRORS.test(type) ? `${name} must be ${allowedIn(setting)}` : message;
}

/** What a setting may be, for a person: `a whole number from 1 to 64, or auto`. */
function allowedIn({ type, values, minimum, maximum }: SettingDescription): string {
  if (type === 'boolean') return 'true or false';
  if (type === 'integer') {
    const range = `a whole number from ${minimum?.toLocaleString('en')} to ${maximum?.toLocaleString('en')}`;
    return [range, ...values].join(', or ');
  }
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(values);
}

/**
 * Names that other programs give to variables, whatever they resemble: npm, Node, OpenTelemetry, and Kubernetes for
 * every service of a cluster (`CATALOGUE_PORT_8443_TCP`).
 */
const FOREIGN =
  /^(npm_|NODE_|OTEL_|XDG_|LC_)|_SERVICE_(HOST|PORT(_.*)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
/** The value of Kubernetes' `NAME_PORT`. */
const FOREIGN_VALUE = /^(tcp|udp|sctp):\/\//;

/**
 * Finds variables that are set, have no meaning here, and are probably misspelt settings. A setting that is itself among
 * the variables is not misspelt.
 * @returns the misspelt name and the right one
 */
export function misspeltNames(
  variables: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): [given: string, meant: string][] {
  const absent = known.filter((name) => variables[name] === undefined);
  return Object.entries(variables).flatMap(([given, value]): [string, string][] => {
    if (!value || known.includes(given) || FOREIGN.test(given) || FOREIGN_VALUE.test(value)) return [];
    const meant = similarName(given, absent);
    return meant === undefined ? [] : [[given, meant]];
  });
}

/**
 * Returns the known name with the same letters, in any case, order and with any separators; else one that differs in
 * one place, by one letter, or by up to two if it has ten characters or more. A name below six characters is close to
 * names of other programs, so it has to have the same letters.
 */
export function similarName(given: string, known: readonly string[]): string | undefined {
  const letters = lettersOf(given);
  const tolerated = (name: string) => (name.length >= 10 ? 2 : Number(name.length >= 6));
  return (
    known.find((name) => lettersOf(name) === letters) ??
    known.find((name) => lengthOfDifference(given, name) <= tolerated(name))
  );
}

/**
 * Returns the allowed value that a value abbreviates or extends, such as `postgresql` for `postgres`; else a similar one.
 * Values below four characters are too short for that: `no` has the letters of `on`.
 */
export function similarValue(given: string, allowed: readonly string[]): string | undefined {
  const value = given.toLowerCase();
  const long = allowed.filter((one) => Math.min(one.length, value.length) >= 4);
  return long.find((one) => one.startsWith(value) || value.startsWith(one)) ?? similarName(value, long);
}

function lettersOf(name: string): string {
  return [...name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')].sort().join('');
}

/** The length of what stands between the common beginning and the common end of two names, in the longer one. */
function lengthOfDifference(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  return Math.max(one.length, other.length) - start - end;
}
