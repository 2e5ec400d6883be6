import type { Field, FieldTable } from '../../../../domain/fields.js';
import { REFERENCE } from '../../../../domain/fields.js';
import { ATTRIBUTES, descriptionOf } from '../../../../domain/validation.js';
import {
  closed,
  integerSchema,
  type JsonSchema,
  type ObjectSchema,
  TEXT,
  textSchema,
} from '../core/json-schema.js';

type Describe = (field: Field) => string;

/** What a field means, without the rule, which matters only to those who send a value. Parts with a name have one schema. */
export function meaningOf(field: Field): string {
  if (field.kind === 'choice' || field.kind === 'object') return descriptionOf(field);
  return `${field.description}${'unit' in field && field.unit ? `, in ${field.unit}` : ''}.`;
}

/** The schema of an object with these fields, as clients send it. Unknown fields are refused. */
export function fieldsSchema(table: FieldTable, describe: Describe = descriptionOf): ObjectSchema {
  const fields = Object.entries(table);
  return closed(
    Object.fromEntries(fields.map(([name, field]) => [name, fieldSchema(field, describe)])),
    fields.filter(([, { required }]) => required).map(([name]) => name),
  );
}

function fieldSchema(field: Field, describe: Describe): JsonSchema {
  return { ...valueSchema(field, describe), description: describe(field) };
}

export function valueSchema(field: Field, describe: Describe = descriptionOf): JsonSchema {
  switch (field.kind) {
    case 'text':
      return { ...TEXT, ...textSchema(field) };
    case 'code':
      return { ...TEXT, pattern: field.pattern.source };
    case 'choice':
      return { ...TEXT, enum: field.values };
    case 'integer':
      return integerSchema(field.min, field.max);
    case 'reference':
      return integerSchema(REFERENCE.min, REFERENCE.max);
    case 'instant':
      return { ...TEXT, format: 'date-time' };
    case 'attributes':
      return ATTRIBUTES_SCHEMA;
    case 'object':
      return fieldsSchema(field.fields, describe);
    case 'list':
      // `uniqueItems` cannot compare parts of elements, and turns arrays into sets in generated clients.
      return {
        type: 'array',
        items: fieldSchema(field.of, describe),
        minItems: field.min,
        maxItems: field.max,
      };
  }
}

const ATTRIBUTES_SCHEMA: JsonSchema = {
  type: 'object',
  maxProperties: ATTRIBUTES.maxKeys,
  // Some JSON parsers set the prototype of an object through this name.
  propertyNames: { ...textSchema(ATTRIBUTES.key), not: { const: '__proto__' } },
  // Generators of clients read only `additionalProperties`: a map of any values. Of several types they make a class for
  // each value. Validators read the pattern, which every key matches.
  additionalProperties: true,
  patternProperties: {
    '^': {
      anyOf: [
        { ...TEXT, ...textSchema(ATTRIBUTES.text) },
        { type: 'number', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
        { type: 'boolean' },
      ],
    },
  },
};
