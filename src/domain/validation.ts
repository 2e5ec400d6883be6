import { type Attributes, validateAttributes } from './attributes.js';
import type { Issue, IssueCode } from './errors.js';
import type { Field, FieldsOf, FieldTable, ListField, Path } from './fields.js';
import { isReference, isWithin, memberValue } from './references.js';
import { issueIn, type LocatedIssue } from './rules.js';
import { validateText } from './text.js';

/**
 * Makes a function that returns every broken rule of an entity; none if the entity is valid. It does not check types,
 * nor that references exist. A field without a value is skipped.
 */
export function validator<Table extends FieldTable>(
  table: Table,
): (fields: Partial<FieldsOf<Table>>) => Issue[] {
  const check = objectCheck(table);
  return (fields) => {
    const issues: LocatedIssue[] = [];
    check(fields as never, [], issues);
    return issues.map((issue) => issueIn(table, issue));
  };
}

type Check = (value: never, path: Path, issues: LocatedIssue[]) => void;

function checkOf(field: Field): Check {
  switch (field.kind) {
    case 'text':
      return codeCheck((text: string) => validateText(text, field));
    case 'code':
      return codeCheck((text: string) => formIssues(text, field.pattern.test(text)));
    case 'choice':
      return codeCheck((text: string) => formIssues(text, field.values.includes(text)));
    case 'integer':
      return codeCheck((value: number) => (isWithin(value, field) ? [] : ['out_of_range']));
    case 'reference':
      return codeCheck((value: number) => (isReference(value) ? [] : ['out_of_range']));
    case 'instant':
      return codeCheck((value: number) => (Number.isSafeInteger(value) ? [] : ['out_of_range']));
    case 'attributes':
      return (attributes: Attributes, path, issues) => {
        for (const issue of validateAttributes(attributes))
          issues.push({ ...issue, path: [...path, ...issue.path] });
      };
    case 'object':
      return objectCheck(field.fields);
    case 'list':
      return listCheck(field);
  }
}

function codeCheck<Value>(codes: (value: Value) => readonly IssueCode[]): Check {
  return (value, path, issues) => {
    for (const code of codes(value)) issues.push({ code, path });
  };
}

function objectCheck(table: FieldTable): Check {
  const checks = Object.entries(table).map(([name, field]) => [name, checkOf(field)] as const);
  return (object: Readonly<Record<string, never>>, path, issues) => {
    for (const [name, check] of checks) {
      const value = object[name];
      if (value !== undefined) check(value, [...path, name], issues);
    }
  };
}

function listCheck(field: ListField): Check {
  const check = checkOf(field.of);
  const repetitions = repetitionsIn(field);
  return (elements: readonly never[], path, issues) => {
    if (elements.length < field.min) issues.push({ code: 'too_short', path });
    if (elements.length > field.max) issues.push({ code: 'too_long', path });
    for (const [at, element] of elements.entries()) check(element, [...path, at], issues);
    for (const inside of repetitions(elements))
      issues.push({ code: 'duplicate_value', path: [...path, ...inside] });
  };
}

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
  throw new Error(`A list cannot be distinct by a field of the kind ${field.kind}.`);
}
