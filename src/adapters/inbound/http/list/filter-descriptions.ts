import type { FieldSpec } from '../../../../domain/fields.js';
import type { ParameterDescription } from '../core/description.js';
import type { JsonSchema } from '../core/json-schema.js';
import type { AttributeOperator } from './attribute-name.js';
import { MAX_VALUES, NUMBER, type Operator, TEXT, valueTypeOf } from './filter-operators.js';

const DESCRIPTIONS: Readonly<Record<Operator, string>> = {
  eq: 'Equals this',
  ne: 'Has another value',
  lt: 'Less than this',
  lte: 'At most this',
  gt: 'Greater than this',
  gte: 'At least this',
  prefix: 'Begins with this',
  in: 'One of these',
  all: 'Has each of these',
};

const DESCRIPTIONS_OF_LISTS: Readonly<Record<Operator, string>> = {
  ...DESCRIPTIONS,
  eq: 'Has this',
  prefix: 'One begins with this',
  in: 'Has one of these',
};

/**
 * The parameters of a field: `name`, `name.ne`, `name.prefix` and so on.
 * @param record an example with a value in this field
 */
export function filterDescriptions(field: string, spec: FieldSpec, record: object): ParameterDescription[] {
  const texts = spec.isList ? DESCRIPTIONS_OF_LISTS : DESCRIPTIONS;
  const [example] = [valueAt(record, field)].flat();
  return (valueTypeOf(spec)?.operators ?? []).map((operator) => {
    const { schema, element, unit } = valueTypeOf(spec, operator) ?? TEXT;
    const name = operator === 'eq' ? field : `${field}.${operator}`;
    return {
      name,
      description: `${texts[operator]}${unit === undefined ? '' : `, in ${unit}`}.${noValueText(spec, operator)}`,
      ...(operator === 'in' || operator === 'all'
        ? {
            schema: {
              type: 'array',
              minItems: 1,
              maxItems: MAX_VALUES,
              items: element,
            },
            explode: false,
            example: [example],
          }
        : { schema, example }),
    };
  });
}

function noValueText({ noValue }: FieldSpec, operator: Operator): string {
  if (noValue === undefined || !['eq', 'ne', 'in'].includes(operator)) return '';
  return operator === 'ne'
    ? ` \`${noValue}\` finds records with a value.`
    : ` \`${noValue}\` finds records without a value.`;
}

/** The value of a field, also of one inside an object: `price.amount`. */
function valueAt(record: object, field: string): unknown {
  return field.split('.').reduce((value, name) => (value as Record<string, object>)[name] ?? {}, record);
}

/**
 * The parameter of attributes: an object, whose members are parameters of the query. Validators tell it apart from all
 * others by its style, which has no operators: they are in words, and for programs in `x-operators`.
 */
export function attributeDescription(field: string): ParameterDescription {
  return {
    name: field,
    description: `\`${field}[KEY]\`, or \`${field}.KEY\`: the attribute with this key has this value, compared as text. \`${field}[KEY].in\` takes values separated by commas, \`.exists\` true or false; \`.lt\`, \`.lte\`, \`.gt\` and \`.gte\` compare with a number: \`${field}[watts].gte=7.5\`.`,
    schema: { type: 'object', additionalProperties: {} },
    style: 'deepObject',
    explode: true,
    example: { colour: 'green' },
    'x-operators': ATTRIBUTE_SCHEMAS,
  };
}

/** The schema of one value for each operator. */
const ATTRIBUTE_SCHEMAS: Readonly<Record<AttributeOperator, JsonSchema>> = {
  in: { type: 'string', pattern: `^[^,]+(?:,[^,]+){0,${MAX_VALUES - 1}}$` },
  exists: { type: 'boolean' },
  lt: NUMBER.schema,
  lte: NUMBER.schema,
  gt: NUMBER.schema,
  gte: NUMBER.schema,
};

/** The parameter of an optional field that asks whether a record has a value in it. */
export function existenceDescription(field: string, operator: string): ParameterDescription {
  return {
    name: `${field}.${operator}`,
    description: 'Whether there is a value.',
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
  };
}
