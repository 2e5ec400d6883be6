import { ATTRIBUTES } from '../../../../domain/attributes.js';
import type { Field, FieldTable } from '../../../../domain/fields.js';
import { REFERENCE } from '../../../../domain/references.js';
import { descriptionOf } from '../../../../domain/rules.js';
import {
  closed,
  integerSchema,
  type JsonSchema,
  type ObjectSchema,
  TEXT,
  textSchema,
} from '../core/json-schema.js';

/** The schema of an object with these fields, as clients send it. Unknown fields are refused. */
export function fieldsSchema(table: FieldTable): ObjectSchema {
  const fields = Object.entries(table);
  return closed(
    Object.fromEntries(fields.map(([name, field]) => [name, fieldSchema(field)])),
    fields.filter(([, { required }]) => required).map(([name]) => name),
  );
}

function fieldSchema(field: Field): JsonSchema {
  return { ...valueSchema(field), description: descriptionOf(field) };
}

export function valueSchema(field: Field): JsonSchema {
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
      return fieldsSchema(field.fields);
    case 'list':
      // `uniqueItems` cannot compare parts of elements, and turns arrays into sets in generated clients.
      return { type: 'array', items: fieldSchema(field.of), minItems: field.min, maxItems: field.max };
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
