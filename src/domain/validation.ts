import { fieldIssue, type Issue, type IssueCode, type LocatedIssue, MAX_ISSUES } from './errors.js';
import {
  type ChoiceField,
  type CodeField,
  type Field,
  type FieldTable,
  isWithin,
  type ListField,
  memberValue,
  type Path,
  REFERENCE,
} from './fields.js';
import { parseInstant } from './instant.js';
import { ONE_LINE, ONE_LINE_CHARACTERS, type TextRule, validateText } from './text.js';

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
 * Makes a function that returns every issue of an entity with these fields alone, at most {@link MAX_ISSUES}. The issues
 * of the fields come first, in the order of the table, then the members that are no fields.
 */
export function entityValidator(table: FieldTable): (entity: unknown) => readonly Issue[] {
  const check = entityCheck(table);
  return (entity) => {
    const found = check(entity);
    return found.length === 0 ? NONE : found.slice(0, MAX_ISSUES).map((issue) => issueIn(table, issue));
  };
}

function entityCheck(table: FieldTable): Check {
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
    if (others === 0) return issues;
    for (const name of names) if (!Object.hasOwn(table, name)) issues.push({ code: 'unknown_field', path: [name] });
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
export function repetitionsIn({ of: element, distinct }: ListField): (elements: readonly unknown[]) => readonly Path[] {
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

export const ATTRIBUTES = {
  maxKeys: 50,
  key: { min: 1, max: 64, allowed: ONE_LINE, characters: ONE_LINE_CHARACTERS } satisfies TextRule,
  text: { min: 0, max: 500, allowed: ONE_LINE, characters: ONE_LINE_CHARACTERS } satisfies TextRule,
} as const;

/** No valid object has as many keys. The bound limits the work for an invalid one. */
const MAX_VALIDATED = 1_000;

/** Every issue of attributes. Values may be of any type. */
export function validateAttributes(attributes: Readonly<Record<string, unknown>>): LocatedIssue[] {
  const keys = Object.keys(attributes);
  const issues: LocatedIssue[] = [];
  if (keys.length > ATTRIBUTES.maxKeys) issues.push({ code: 'too_long', path: [] });
  for (const key of keys.slice(0, MAX_VALIDATED)) {
    for (const code of validateText(key, ATTRIBUTES.key)) issues.push({ code, path: [key], ofKey: true });
    for (const code of validateValue(attributes[key])) issues.push({ code, path: [key] });
  }
  return issues;
}

function validateValue(value: unknown): IssueCode[] {
  if (typeof value === 'string') return validateText(value, ATTRIBUTES.text);
  if (typeof value === 'boolean') return [];
  if (typeof value !== 'number') return ['invalid_type'];
  return isStoredExactly(value) ? [] : ['out_of_range'];
}

/** From 2^53 on, a double represents several integers, so a client could read another number than it sent. */
export function isStoredExactly(value: number): boolean {
  return Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** Returns the issue of an entity with these fields. The message states the rule that the value breaks. */
export function issueIn(table: FieldTable, { code, path, value, ofKey }: LocatedIssue): Issue {
  if (ofKey) return fieldIssue(code, path, `must have a key that is not empty, of ${KEY}`);
  const mistake = mistakeIn(fieldAt(table, path), value);
  return fieldIssue(code, path, predicate(table, code, path) + (mistake ? `. ${mistake}` : ''));
}

function mistakeIn(field: Field | undefined, value: unknown): string | undefined {
  return field?.kind === 'code' && typeof value === 'string' ? field.mistake?.(value) : undefined;
}

const KEY = textRule(ATTRIBUTES.key);
const ATTRIBUTE_VALUE = `a string (${textRule(ATTRIBUTES.text)}), a number (from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}), true or false`;

/** The documentation of a field: what it means, and its rule. */
export function descriptionOf(field: Field): string {
  return `${field.description}: ${ruleOf(field)}.`;
}

/** What a value of the field may be; completes "must be". Lengths are in Unicode code points. */
export function ruleOf(field: Field): string {
  switch (field.kind) {
    case 'text':
      return textRule(field);
    case 'code':
      return field.form;
    case 'choice':
      return choiceRule(field);
    case 'integer':
      return integerRule(field);
    case 'reference':
      return `the id of one of the ${field.to}, an integer from 1`;
    case 'instant':
      return `a time such as 2030-01-31T00:00:00Z (RFC 3339)${field.limits ? `, ${field.limits}` : ''}`;
    case 'attributes':
      return `an object of at most ${ATTRIBUTES.maxKeys} keys (each ${KEY}), each value ${ATTRIBUTE_VALUE}`;
    case 'object':
      return `an object with ${namesOf(field.fields)}`;
    case 'list': {
      const rule = `an array of ${field.min} to ${field.max}, each ${ruleOf(field.of)}`;
      if (!field.distinct) return rule;
      return `${rule}, no two ${field.distinct.length > 0 ? `with the same ${field.distinct.join('.')}` : 'the same'}`;
    }
  }
}

function textRule({ max, characters }: TextRule): string {
  return `at most ${max} ${characters}`;
}

function choiceRule({ values, noValue }: ChoiceField): string {
  return `one of ${values.join(', ')}${noValue === undefined ? '' : `; ${noValue} stands for no value`}`;
}

function integerRule({ min, max, unit }: { min: number; max: number; unit?: string }): string {
  const inUnit = unit === undefined ? '' : `, in ${unit}`;
  return max === Number.MAX_SAFE_INTEGER
    ? `an integer from ${min}${inUnit}, at most ${max}`
    : `an integer from ${min} to ${max}${inUnit}`;
}

function namesOf(table: FieldTable): string {
  return Object.keys(table).join(', ');
}

/** Completes the sentence whose subject is the field at the path. */
function predicate(table: FieldTable, code: IssueCode, path: Path): string {
  switch (code) {
    case 'unknown_field':
      return `is not a field: there are ${namesOf(membersAt(table, path.slice(0, -1)))}`;
    case 'read_only_field':
      return 'is given by the service: leave it out';
    case 'duplicate_value':
      return `must differ from that of every other element of ${path[0]}`;
    case 'required':
      return `is required: it must be ${ruleAt(table, path)}`;
    case 'reference_not_found':
      return `must be ${ruleAt(table, path)}; none has this id`;
    case 'too_short': {
      const { kind } = fieldAt(table, path) ?? {};
      const isEmptyText = kind !== 'list' && kind !== undefined;
      return `must ${isEmptyText ? 'not be empty: it must ' : ''}be ${ruleAt(table, path)}`;
    }
    case 'invalid_type': {
      const isText = ['text', 'code', 'choice'].includes(fieldAt(table, path)?.kind ?? '');
      return `must be ${isText ? 'a string: ' : ''}${ruleAt(table, path)}`;
    }
    default:
      return `must be ${ruleAt(table, path)}`;
  }
}

function ruleAt(table: FieldTable, path: Path): string {
  const field = fieldAt(table, path);
  return field ? ruleOf(field) : ATTRIBUTE_VALUE;
}

function membersAt(table: FieldTable, path: Path): FieldTable {
  const field = fieldAt(table, path);
  return field?.kind === 'object' ? field.fields : table;
}

/** @returns undefined for the entity itself and for the value of an attribute, which have no entry in the table */
function fieldAt(table: FieldTable, [name, ...path]: Path): Field | undefined {
  return path.reduce<Field | undefined>(
    (field, step) => {
      if (field?.kind === 'list') return field.of;
      return field?.kind === 'object' ? field.fields[step] : undefined;
    },
    name === undefined ? undefined : table[name],
  );
}
