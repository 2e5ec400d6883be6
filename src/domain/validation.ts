import { validateAttributes } from './attributes.js';
import type { IssueCode } from './errors.js';
import type { CodeField, Field, FieldTable, ListField, Path } from './fields.js';
import { parseInstant } from './instant.js';
import { isWithin, memberValue, REFERENCE } from './references.js';
import type { LocatedIssue } from './rules.js';
import { validateText } from './text.js';

/** The issues of a text that has one fixed form. */
export function formIssues(text: string, isValid: boolean): IssueCode[] {
  if (text === '') return ['too_short'];
  return isValid ? [] : ['invalid_format'];
}

export function codeIssues({ pattern, isValid }: CodeField, text: string): IssueCode[] {
  return formIssues(text, pattern.test(text) && isValid?.(text) !== false);
}

/** The kinds whose valid values are equal only if they are the same. */
const COMPARABLE: readonly Field['kind'][] = ['reference', 'choice', 'text'];

/**
 * Makes a function that returns the paths to values that repeat an earlier one. Elements may be of any type: only valid
 * values are compared.
 */
export function repetitionsIn({
  of: element,
  distinct,
}: ListField): (elements: readonly unknown[]) => Path[] {
  if (!distinct) return () => [];
  const compared = distinct.reduce(member, element);
  if (!COMPARABLE.includes(compared.kind))
    throw new Error(`A list cannot be distinct by a field of the kind ${compared.kind}.`);
  const issuesOf = issuesBy(finderOf(compared));
  return (elements) => {
    const seen = new Set<unknown>();
    const repeated: Path[] = [];
    for (const [at, one] of elements.entries()) {
      const value = distinct.reduce(memberValue, one);
      if (issuesOf(value).length > 0) continue;
      if (seen.has(value)) repeated.push([at, ...distinct]);
      seen.add(value);
    }
    return repeated;
  };
}

function member(field: Field, name: string): Field {
  const inner = field.kind === 'object' ? field.fields[name] : undefined;
  if (!inner) throw new Error(`A list cannot be distinct by ${name}: its elements have no such field.`);
  return inner;
}

/**
 * Makes a function that returns every issue of an entity with these fields, in the order of the table. A field that is
 * undefined is absent.
 * @param readOnly the names of fields that only the service sets
 */
export function entityIssues(
  table: FieldTable,
  readOnly: readonly string[] = [],
): (value: unknown) => readonly LocatedIssue[] {
  return issuesBy(membersFinder(table, readOnly));
}

/** Finds the issues of a value of any type. The path to it is the same before and after. */
type IssueFinder = (value: unknown, path: (string | number)[], found: LocatedIssue[]) => void;

function issuesBy(find: IssueFinder): (value: unknown) => readonly LocatedIssue[] {
  return (value) => {
    const found: LocatedIssue[] = [];
    find(value, [], found);
    return found;
  };
}

function membersFinder(table: FieldTable, readOnly: readonly string[] = []): IssueFinder {
  const members = new Map(Object.entries(table).map(([name, field]) => [name, finderOf(field)]));
  const required = new Set(Object.keys(table).filter((name) => table[name]?.required));
  const given = new Set(readOnly);
  return (value, path, found) => {
    if (!isObject(value)) return add('invalid_type', path, found);
    const at = path.length;
    for (const [name, find] of members) {
      path[at] = name;
      const member = value[name];
      if (member !== undefined) find(member, path, found);
      else if (required.has(name)) add('required', path, found);
    }
    for (const name of Object.keys(value)) {
      if (members.has(name)) continue;
      path[at] = name;
      add(given.has(name) ? 'read_only_field' : 'unknown_field', path, found);
    }
    path.length = at;
  };
}

function finderOf(field: Field): IssueFinder {
  switch (field.kind) {
    case 'text':
      return textFinder((text) => validateText(text, field));
    case 'code':
      return textFinder((text) => codeIssues(field, text));
    case 'choice':
      return textFinder((text) => formIssues(text, field.values.includes(text)));
    case 'instant':
      return textFinder((text) => formIssues(text, parseInstant(text) !== undefined));
    case 'integer':
      return integerFinder(field);
    case 'reference':
      return integerFinder(REFERENCE);
    case 'attributes':
      return (value, path, found) => {
        if (!isObject(value)) return add('invalid_type', path, found);
        for (const issue of validateAttributes(value))
          found.push({ ...issue, path: [...path, ...issue.path] });
      };
    case 'object':
      return membersFinder(field.fields);
    case 'list':
      return listFinder(field);
  }
}

function textFinder(issuesOf: (text: string) => readonly IssueCode[]): IssueFinder {
  return (value, path, found) => {
    if (typeof value !== 'string') return add('invalid_type', path, found);
    for (const code of issuesOf(value)) add(code, path, found);
  };
}

function integerFinder(limits: { readonly min: number; readonly max: number }): IssueFinder {
  return (value, path, found) => {
    if (typeof value !== 'number') return add('invalid_type', path, found);
    if (isWithin(value, limits)) return;
    const isTooLarge = Math.abs(value) > Number.MAX_SAFE_INTEGER;
    if (!isTooLarge && !Number.isInteger(value)) add('invalid_type', path, found);
    if (isTooLarge || value < limits.min || value > limits.max) add('out_of_range', path, found);
  };
}

function listFinder(field: ListField): IssueFinder {
  const { of: element, min, max } = field;
  const find = finderOf(element);
  const repetitions = repetitionsIn(field);
  return (value, path, found) => {
    if (!Array.isArray(value)) return add('invalid_type', path, found);
    const at = path.length;
    for (const [index, one] of value.entries()) {
      path[at] = index;
      find(one, path, found);
    }
    path.length = at;
    for (const repeated of repetitions(value)) add('duplicate_value', [...path, ...repeated], found);
    if (value.length < min) add('too_short', path, found);
    if (value.length > max) add('too_long', path, found);
  };
}

function add(code: IssueCode, path: Path, found: LocatedIssue[]): void {
  found.push({ code, path: [...path] });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
