import type { Field, FieldTable } from '../../domain/fields.js';

const STRING = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"`;
const NUMBER = '[-+.0-9Ee]+';
const ATTRIBUTE = `${STRING}:(?:${STRING}|${NUMBER}|true|false)`;

/**
 * Returns an expression that matches the JSON text of an object if it has no members but these fields, in the order of
 * the table and of its types, also inside objects. Such a text can be shown as it is. The expression assumes that the
 * text is JSON without white space, and takes less than a tenth of the time of parsing it.
 */
export function presentablePattern(table: FieldTable): RegExp {
  return new RegExp(`^${objectPattern(table)}$`);
}

function objectPattern(table: FieldTable): string {
  const members = Object.entries(table).map(([name, field]) => `(?:,?"${name}":${patternOf(field)})?`);
  return `\\{${members.join('')}\\}`;
}

function patternOf(field: Field): string {
  switch (field.kind) {
    case 'text':
    case 'code':
    case 'choice':
      return STRING;
    case 'integer':
    case 'reference':
    case 'instant':
      return NUMBER;
    case 'attributes':
      return `\\{(?:${ATTRIBUTE}(?:,${ATTRIBUTE})*)?\\}`;
    case 'object':
      return objectPattern(field.fields);
    case 'list': {
      const element = patternOf(field.of);
      return `\\[(?:${element}(?:,${element})*)?\\]`;
    }
  }
}
