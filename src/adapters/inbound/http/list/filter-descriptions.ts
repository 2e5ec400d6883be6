import { type FieldSpec, SYSTEM_FIELDS } from '../../../../domain/fields.js';
import type { ParameterDescription } from '../core/description.js';
import { MAX_VALUES, type Operator, type ValueType } from './filter-operators.js';

/** Completes "FIELD …" for each operator. */
const DESCRIPTIONS: Readonly<Record<Operator, string>> = {
  eq: 'is this',
  ne: 'has another value than this',
  lt: 'is less than this',
  lte: 'is this or less',
  gt: 'is greater than this',
  gte: 'is this or greater',
  prefix: 'begins with this',
  in: 'is one of these',
  all: 'has each of these',
};

const DESCRIPTIONS_OF_LISTS: Readonly<Record<Operator, string>> = {
  ...DESCRIPTIONS,
  eq: 'has this',
  prefix: 'has one that begins with this',
  in: 'has one of these',
};

/**
 * The parameters of a field: `name`, `name.ne`, `name.prefix` and so on.
 * @param record an example with a value in this field
 */
export function filterDescriptions(
  field: string,
  { isList }: FieldSpec,
  { operators, schema, element, unit }: ValueType,
  record: object,
): ParameterDescription[] {
  const texts = isList ? DESCRIPTIONS_OF_LISTS : DESCRIPTIONS;
  const [example] = [valueAt(record, field)].flat();
  return operators.map((operator) => {
    const name = operator === 'eq' ? field : `${field}.${operator}`;
    return {
      name,
      // Every list has these.
      ...(field in SYSTEM_FIELDS && { sharedAs: `filter.${field}.${operator}` }),
      description: `\`${field}\` ${texts[operator]}${unit === undefined ? '' : `, in ${unit}`}.`,
      ...(operator === 'in' || operator === 'all'
        ? {
            schema: {
              type: 'array',
              minItems: 1,
              maxItems: MAX_VALUES,
              items: element,
            },
            style: 'form' as const,
            explode: false,
            example: [example],
          }
        : { schema, example }),
    };
  });
}

/** The value of a field, also of one inside an object: `price.amount`. */
function valueAt(record: object, field: string): unknown {
  return field.split('.').reduce((value, name) => (value as Record<string, object>)[name] ?? {}, record);
}

/** The parameters of attributes, such as `attributes.colour`: an object, whose members are the parameters. */
export function attributeDescriptions(field: string): ParameterDescription[] {
  return [
    {
      name: field,
      description: `\`${field}.KEY\`: the attribute with this key has this value. Values are compared as text. Everything after the first dot is the key, dots and colons included. Or \`${field}[KEY]\`.`,
      schema: {
        type: 'object',
        propertyNames: { pattern: `^${field}\\.[\\s\\S]+$` },
        additionalProperties: { type: 'string' },
      },
      style: 'form',
      explode: true,
      example: { [`${field}.colour`]: 'green' },
    },
  ];
}

/** The parameter of an optional field that asks whether a record has a value in it. */
export function existenceDescription(field: string, operator: string): ParameterDescription {
  return {
    name: `${field}.${operator}`,
    description: `Whether a record has a value in \`${field}\`.`,
    schema: { type: 'boolean' },
    example: true,
  };
}

/**
 * Has a character that may be part of a word: a letter or digit of ASCII, or any character beyond ASCII. Which of those
 * are letters depends on the version of Unicode, and regular expressions of many languages do not know.
 */
const HAS_WORD = '^[\\s\\S]*[^\\x00-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7f][\\s\\S]*$';

/** The parameter that searches by words. */
export function searchDescription(name: string): ParameterDescription {
  return {
    name,
    description:
      'Words of letters and digits, each the beginning of a word of the record: `lam gre` finds "Green Lamp". Upper and lower case and accents make no difference. At least one word and at most 10, each of at most 64 characters. Of a record the first 8,000 different words count.',
    schema: { type: 'string', pattern: HAS_WORD },
    example: 'lamp',
    sharedAs: 'search',
  };
}
