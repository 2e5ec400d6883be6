import { validateAttributes } from './attributes.js';
import type { IssueCode } from './errors.js';
import type { CodeField, Field, FieldTable, ListField, Path } from './fields.js';
import { parseInstant } from './instant.js';
import { isReference, isWithin, memberValue } from './references.js';
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
  const isValid = validity(compared);
  return (elements) => {
    const seen = new Set<unknown>();
    const repeated: Path[] = [];
    for (const [at, one] of elements.entries()) {
      const value = distinct.reduce(memberValue, one);
      if (!isValid(value)) continue;
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

/** Whether a value of any type follows the rules of a field, or of an entity. */
export type Validity = (value: unknown) => boolean;

/**
 * Returns whether a value is an entity with these fields alone. It says nothing about an invalid one, and costs less than
 * a fifth of what finding the issues does.
 */
export function entityValidity(table: FieldTable): Validity {
  const members = new Map(Object.entries(table).map(([name, field]) => [name, validity(field)]));
  const required = Object.keys(table).filter((name) => table[name]?.required);
  return (value) =>
    isObject(value) &&
    Object.keys(value).every((name) => members.get(name)?.(value[name])) &&
    required.every((name) => Object.hasOwn(value, name));
}

function validity(field: Field): Validity {
  switch (field.kind) {
    case 'text':
      return textValidity((text) => validateText(text, field).length === 0);
    case 'code':
      return textValidity((text) => codeIssues(field, text).length === 0);
    case 'choice':
      return textValidity((text) => formIssues(text, field.values.includes(text)).length === 0);
    case 'instant':
      return textValidity((text) => formIssues(text, parseInstant(text) !== undefined).length === 0);
    case 'integer':
      return (value) => typeof value === 'number' && isWithin(value, field);
    case 'reference':
      return isReference;
    case 'attributes':
      return (value) => isObject(value) && validateAttributes(value).length === 0;
    case 'object':
      return entityValidity(field.fields);
    case 'list':
      return listValidity(field);
  }
}

function textValidity(isValid: (text: string) => boolean): Validity {
  return (value) => typeof value === 'string' && isValid(value);
}

function listValidity(field: ListField): Validity {
  const { of: element, min, max } = field;
  const isValid = validity(element);
  const repetitions = repetitionsIn(field);
  return (value) =>
    Array.isArray(value) &&
    value.length >= min &&
    value.length <= max &&
    value.every(isValid) &&
    repetitions(value).length === 0;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
