import type { GivenValues, Setting } from '../shared/setting.js';
import { SETTINGS } from './settings-schema.js';
import { shownValue } from './shown-value.js';
import { similarName } from './similar-names.js';

/** Settings, and what is wrong with them. */
export interface Validated {
  readonly values: Readonly<Record<string, unknown>>;
  /** Lines for a person, without secrets: for each wrong setting what is allowed, and the value that was given. */
  readonly issues: readonly string[];
}

/** Validates every setting, and finds the names that are none. */
export function validate(
  given: GivenValues,
  settings: Readonly<Record<string, Setting>> = SETTINGS,
): Validated {
  const issues: string[] = [];
  const values = Object.entries(settings).map(([name, setting]) => {
    try {
      return [name, readValue(name, setting, given)];
    } catch (error) {
      if (!(error instanceof Issues)) throw error;
      issues.push(...error.lines);
      return [name, undefined];
    }
  });
  const names = Object.keys(settings);
  for (const name of Object.keys(given))
    if (!Object.hasOwn(settings, name)) issues.push(unknownName(name, names));
  return { values: Object.fromEntries(values), issues };
}

class Issues extends Error {
  constructor(readonly lines: readonly string[]) {
    super();
  }
}

/** @throws Issues */
function readValue(name: string, setting: Setting, given: GivenValues): unknown {
  const value = Object.hasOwn(given, name) ? given[name] : undefined;
  if (value === undefined || value === '') return valueIfAbsent(name, setting, given);
  const wrong = (text: string) => new Issues([`${text}; it is "${shownValue(value, setting.secrecy)}"`]);
  const read = READ[setting.type](value, setting);
  if (read === undefined) throw wrong(`${name} must be ${allowedIn(setting)}`);
  const issue = setting.issue?.(read as never, given);
  if (typeof issue === 'string') throw wrong(issue);
  if (issue !== undefined) throw new Issues(issue);
  return typeof read === 'string' ? (setting.normalized?.(read) ?? read) : read;
}

/** @throws Issues */
function valueIfAbsent(name: string, { requiredBy, absent }: Setting, given: GivenValues): string {
  if (requiredBy) {
    const { name: other, value } = requiredBy;
    const isRequired = value === undefined ? Boolean(given[other]) : given[other] === value;
    if (isRequired)
      throw new Issues([`${name} is required by ${value === undefined ? other : `${other}=${value}`}`]);
  }
  if (absent === undefined) throw new Issues([`${name} must have a value`]);
  return absent === '' ? '' : absent(given);
}

/** For each type: reads a value as the environment or a file gives it. Undefined: it is of another type, or not allowed. */
const READ: Readonly<
  Record<Setting['type'], (value: unknown, setting: Setting) => string | number | boolean | undefined>
> = {
  text: (value, { values }) =>
    typeof value === 'string' && (values?.includes(value) ?? true) ? value : undefined,
  integer: (value, { minimum = 0, maximum = Number.MAX_SAFE_INTEGER }) => {
    const number = typeof value === 'string' && /^\s*[\d.e+-]+\s*$/i.test(value) ? Number(value) : value;
    return Number.isInteger(number) && Number(number) >= minimum && Number(number) <= maximum
      ? Number(number)
      : undefined;
  },
  boolean: (value) => ({ true: true, false: false })[String(value).toLowerCase()],
};

/** What a setting may be, for a person: `a whole number from 1 to 64, or auto`. */
function allowedIn({ type, values, minimum, maximum }: Setting): string {
  if (type === 'boolean') return 'true or false';
  if (type === 'text')
    return values ? new Intl.ListFormat('en', { type: 'disjunction' }).format(values) : 'a string';
  const range = `a whole number from ${minimum?.toLocaleString('en')} to ${maximum?.toLocaleString('en')}`;
  return [range, ...(values ?? [])].join(', or ');
}

function unknownName(name: string, names: readonly string[]): string {
  const meant = similarName(name, names);
  return `${shownValue(name)}: there is no setting of this name${meant ? `; is ${meant} meant?` : ''}`;
}
