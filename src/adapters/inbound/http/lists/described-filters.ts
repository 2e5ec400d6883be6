import type { ParameterDescription } from '../openapi/description.js';
import { MAX_VALUES, type Operator, type ValueType } from './filter-values.js';

/** What each operator asks of a field, in a sentence about the records that fit. */
const ASKS: Readonly<Record<Operator, string>> = {
  eq: 'is this',
  ne: 'is there and is not this',
  lt: 'is less than this',
  lte: 'is this or less',
  gt: 'is more than this',
  gte: 'is this or more',
  prefix: 'begins with this',
  in: 'is one of these',
};

/** `name`, `name:ne`, `name:prefix` and so on. */
export function describedFilters(field: string, { operators, schema }: ValueType): ParameterDescription[] {
  return operators.map((operator) => ({
    name: operator === 'eq' ? field : `${field}:${operator}`,
    description: `Those whose \`${field}\` ${ASKS[operator]}.`,
    ...(operator === 'in'
      ? {
          // A comma parts two values; nothing quotes it.
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

/** `attributes.colour`: a parameter for each key that there may be, so an object whose members are parameters. */
export function describedAttributes(field: string): ParameterDescription[] {
  return [
    {
      name: field,
      description: `\`${field}.KEY\`: those that have an attribute of this key and value, which is compared as text. What follows the first dot is the key, as it is; a key with a colon cannot be asked for.`,
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
