import { MAX_VALUES, type Operator, type ValueType } from '../list/filter-operators.js';
import type { ParameterDescription } from './description.js';

/** Completes "Only records whose FIELD …" for each operator. */
const DESCRIPTIONS: Readonly<Record<Operator, string>> = {
  eq: 'is this value',
  ne: 'has a value other than this',
  lt: 'is less than this value',
  lte: 'is this value or less',
  gt: 'is greater than this value',
  gte: 'is this value or greater',
  prefix: 'begins with this text',
  in: 'is one of these values',
};

/** The parameters of a field: `name`, `name:ne`, `name:prefix` and so on. */
export function filterDescriptions(field: string, { operators, schema }: ValueType): ParameterDescription[] {
  return operators.map((operator) => ({
    name: operator === 'eq' ? field : `${field}:${operator}`,
    description: `Only records whose \`${field}\` ${DESCRIPTIONS[operator]}.`,
    ...(operator === 'in'
      ? {
          // A comma separates values and cannot be escaped.
          schema: {
            type: 'array',
            minItems: 1,
            maxItems: MAX_VALUES,
            items: schema['type'] === 'string' ? { ...schema, pattern: '^[^,]+$' } : schema,
          },
          style: 'form' as const,
          explode: false,
        }
      : { schema }),
  }));
}

/** The parameters of attributes, such as `attributes.colour`: an object, whose members are the parameters. */
export function attributeDescriptions(field: string): ParameterDescription[] {
  return [
    {
      name: field,
      description: `\`${field}.KEY\`: only records that have an attribute with this key and this value. Values are compared as text. Everything after the first dot is the key; a key that contains a colon cannot be used.`,
      schema: {
        type: 'object',
        propertyNames: { pattern: `^${field}\\.[^:]+$` },
        additionalProperties: { type: 'string' },
      },
      style: 'form',
      explode: true,
      example: { [`${field}.colour`]: 'green' },
    },
  ];
}
