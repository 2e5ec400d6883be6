import { validateAttributes } from './attributes.js';
import type { IssueCode, LocatedIssue } from './errors.js';
import type { CodeField, Field, FieldTable, ListField, Path } from './fields.js';
import { parseInstant } from './instant.js';
import { isWithin, memberValue, REFERENCE } from './references.js';
import { validateText } from './text.js';

/** Returns every issue of a value of any type, with paths inside the value. */
export type Check = (value: unknown) => readonly LocatedIssue[];

const NONE: readonly never[] = [];
const INVALID_TYPE: readonly LocatedIssue[] = [{ code: 'invalid_type', path: [] }];
const OUT_OF_RANGE: readonly LocatedIssue[] = [{ code: 'out_of_range', path: [] }];

/** Makes the check of a field by its rule. */
export function fieldCheck(field: Field): Check {
  switch (field.kind) {
    case 'text':
      return textCheck((text) => validateText(text, field));
    case 'code':
      return textCheck((text) => codeIssues(field, text));
    case 'choice':
      return textCheck((text) => formIssues(text, field.values.includes(text)));
    case 'instant':
      return textCheck((text) => formIssues(text, parseInstant(text) !== undefined));
    case 'integer':
      return integerCheck(field);
    case 'reference':
      return integerCheck(REFERENCE);
    case 'attributes':
      return (value) => (isObject(value) ? validateAttributes(value) : INVALID_TYPE);
    case 'object':
      return entityCheck(field.fields);
    case 'list':
      return listCheck(field);
  }
}

function textCheck(codesOf: (text: string) => readonly IssueCode[]): Check {
  return (value) => {
    if (typeof value !== 'string') return INVALID_TYPE;
    const codes = codesOf(value);
    return codes.length === 0 ? NONE : codes.map((code) => ({ code, path: [], value }));
  };
}

/** The issues of a text that has one fixed form. */
function formIssues(text: string, isValid: boolean): readonly IssueCode[] {
  if (text === '') return ['too_short'];
  return isValid ? NONE : ['invalid_format'];
}

function codeIssues({ pattern, isValid }: CodeField, text: string): readonly IssueCode[] {
  return formIssues(text, pattern.test(text) && isValid?.(text) !== false);
}

function integerCheck(bounds: { readonly min: number; readonly max: number }): Check {
  return (value) => {
    if (typeof value !== 'number') return INVALID_TYPE;
    if (isWithin(value, bounds)) return NONE;
    if (Number.isInteger(value) || !Number.isFinite(value)) return OUT_OF_RANGE;
    return value < bounds.min || value > bounds.max ? [...INVALID_TYPE, ...OUT_OF_RANGE] : INVALID_TYPE;
  };
}

/**
 * Makes the check of an entity with these fields alone. The issues of the fields come first, in the order of the table,
 * then the members that are no fields.
 */
export function entityCheck(table: FieldTable): Check {
  const fields = Object.entries(table).map(([name, field]) => ({
    name,
    check: fieldCheck(field),
    isRequired: field.required,
  }));
  return (value) => {
    if (!isObject(value)) return INVALID_TYPE;
    const issues: LocatedIssue[] = [];
    const names = Object.keys(value);
    let others = names.length;
    for (const { name, check, isRequired } of fields) {
      const member = value[name];
      if (member !== undefined) {
        others--;
        addInside(issues, name, check(member));
      } else if (isRequired) issues.push({ code: 'required', path: [name] });
    }
    if (others > 0)
      for (const name of names)
        if (!Object.hasOwn(table, name)) issues.push({ code: 'unknown_field', path: [name] });
    return issues;
  };
}

function listCheck(field: ListField): Check {
  const { of: element, min, max } = field;
  const check = fieldCheck(element);
  const repetitions = repetitionsIn(field);
  return (value) => {
    if (!Array.isArray(value)) return INVALID_TYPE;
    const issues: LocatedIssue[] = [];
    for (let at = 0; at < value.length; at++) addInside(issues, at, check(value[at]));
    for (const path of repetitions(value)) issues.push({ code: 'duplicate_value', path });
    if (value.length < min) issues.push({ code: 'too_short', path: [] });
    if (value.length > max) issues.push({ code: 'too_long', path: [] });
    return issues;
  };
}

function addInside(issues: LocatedIssue[], step: string | number, inside: readonly LocatedIssue[]): void {
  if (inside.length === 0) return;
  for (const issue of inside) issues.push({ ...issue, path: [step, ...issue.path] });
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
}: ListField): (elements: readonly unknown[]) => readonly Path[] {
  if (!distinct) return () => NONE;
  const compared = distinct.reduce(member, element);
  if (!COMPARABLE.includes(compared.kind))
    throw new Error(`A list cannot be distinct by a field of the kind ${compared.kind}.`);
  const checkCompared = fieldCheck(compared);
  return (elements) => {
    const seen = new Set<unknown>();
    const repeated: Path[] = [];
    for (const [at, one] of elements.entries()) {
      const value = distinct.reduce(memberValue, one);
      if (checkCompared(value).length > 0) continue;
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

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
