import type Joi from 'joi';
import { ATTRIBUTES } from '../../../../domain/attributes.js';
import { closed, integerSchema, type JsonSchema, TEXT, textSchema } from '../core/json-schema.js';
import type { TextValidator } from './validate-body.js';

type Args = Readonly<Record<string, unknown>>;

/** The part of joi's description that the bodies of this service use. */
interface JoiDescription {
  readonly type: string;
  readonly flags?: { readonly presence?: string; readonly description?: string };
  readonly keys?: Readonly<Record<string, JoiDescription>>;
  readonly items?: readonly [JoiDescription];
  readonly rules?: readonly { readonly name: string; readonly args?: Args }[];
}

/**
 * Converts a joi schema to JSON Schema. By hand: joi's own conversion leaves objects open, and its hook for custom
 * types is undocumented.
 * @throws Error for an unknown type or rule, so that nothing is left out silently
 */
export function jsonSchemaOf(schema: Joi.Schema): JsonSchema {
  return convert(describe(schema));
}

/** The fields that the schema of a body has, those that a client may not send included. */
export function fieldNamesOf(schema: Joi.ObjectSchema): readonly string[] {
  return Object.keys(describe(schema).keys ?? {});
}

/** joi validates each description, which takes milliseconds, and a start needs that of each resource several times. */
const DESCRIPTIONS = new WeakMap<Joi.Schema, JoiDescription>();

function describe(schema: Joi.Schema): JoiDescription {
  const known = DESCRIPTIONS.get(schema);
  if (known) return known;
  const description = schema.describe() as JoiDescription;
  DESCRIPTIONS.set(schema, description);
  return description;
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

const TYPES: Readonly<Record<string, (described: JoiDescription) => JsonSchema>> = {
  object: ({ keys = {} }) => objectSchema(keys),
  attributes: () => ATTRIBUTES_SCHEMA,
  list: ({ items }) => ({ type: 'array', ...(items && { items: convert(items[0]) }) }),
  text: () => TEXT,
  string: () => TEXT,
  number: () => ({ type: 'number' }),
};

const RULES: Readonly<Record<string, (args: Args) => JsonSchema>> = {
  integer: () => ({ type: 'integer' }),
  pattern: ({ regex }) => ({ pattern: String(regex).slice(1, -1) }),
  validatedBy: ({ validator }) => (validator as TextValidator).jsonSchema,
  // `uniqueItems` cannot compare parts of elements, and turns arrays into sets in generated clients.
  distinct: () => ({}),
  'number.min': ({ limit }) => ({ minimum: limit }),
  'number.max': ({ limit }) => ({ maximum: limit }),
  'list.min': ({ limit }) => ({ minItems: limit }),
  'list.max': ({ limit }) => ({ maxItems: limit }),
};

function convert(described: JoiDescription): JsonSchema {
  const { type, rules = [], flags: { description } = {} } = described;
  const fromRules = rules.map(({ name, args = {} }) =>
    known(RULES[`${type}.${name}`] ?? RULES[name], `${type}.${name}`)(args),
  );
  const schema: JsonSchema = Object.assign({}, known(TYPES[type], type)(described), ...fromRules);
  const { type: jsonType, minimum, maximum } = schema;
  return {
    ...(jsonType === 'integer' ? integerSchema(Number(minimum), Number(maximum)) : schema),
    ...(description !== undefined && { description }),
  };
}

/** Without additional properties, because unknown fields are rejected. */
function objectSchema(keys: Readonly<Record<string, JoiDescription>>): JsonSchema {
  const sendable = Object.entries(keys).filter(([, { flags }]) => flags?.presence !== 'forbidden');
  const required = sendable.filter(([, { flags }]) => flags?.presence === 'required').map(([name]) => name);
  return closed(
    Object.fromEntries(sendable.map(([name, described]) => [name, convert(described)])),
    required,
  );
}

function known<Conversion>(conversion: Conversion | undefined, name: string): Conversion {
  if (!conversion) throw new Error(`No JSON Schema is defined for joi's ${name}.`);
  return conversion;
}
