import type { IssueCode } from './errors.js';
import type { Field, ListField, Path } from './fields.js';
import { isReference, memberValue } from './references.js';
import { validateText } from './text.js';

/** The issues of a text that has one fixed form. */
export function formIssues(text: string, isValid: boolean): IssueCode[] {
  if (text === '') return ['too_short'];
  return isValid ? [] : ['invalid_format'];
}

/**
 * Makes a function that returns the paths to values that repeat an earlier one. Elements may be of any type: only valid
 * values are compared.
 */
export function repetitionsIn({
  of: element,
  distinct,
}: ListField): (elements: readonly unknown[]) => Path[] {
  if (!distinct) return () => [];
  const isValid = validValue(distinct.reduce(member, element));
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

function validValue(field: Field): (value: unknown) => boolean {
  if (field.kind === 'reference') return isReference;
  if (field.kind === 'choice') return (value) => (field.values as readonly unknown[]).includes(value);
  if (field.kind === 'text')
    return (value) => typeof value === 'string' && validateText(value, field).length === 0;
  throw new Error(`A list cannot be distinct by a field of the kind ${field.kind}.`);
}
