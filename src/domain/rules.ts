import { ATTRIBUTES } from './attributes.js';
import { fieldIssue, type Issue, type IssueCode, type LocatedIssue } from './errors.js';
import type { ChoiceField, Field, FieldTable, Path } from './fields.js';
import type { TextRule } from './text.js';

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
      return 'is given by the service: leave it out, or in a PUT or PATCH send its stored value';
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
