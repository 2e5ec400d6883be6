import type Joi from 'joi';
import { describeSettings, metaOf, SETTING_NAMES, type SettingDescription } from './setting-descriptions.js';
import { shownValue } from './shown-value.js';
import { similarName, similarValue } from './similar-names.js';

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
  const isOfAll =
    limit === undefined || limit === (type === 'number.max' ? setting?.maximum : setting?.minimum);
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
