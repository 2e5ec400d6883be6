import type Joi from 'joi';
import { ATTRIBUTES } from '../../../../domain/attributes.js';
import type { TextValidator } from '../body/validate-body.js';
import { type JsonSchema, textSchema } from './json-schema.js';

type Args = Readonly<Record<string, unknown>>;

/** The part of joi's description that the bodies of this service use. */
interface JoiDescription {
  readonly type: string;
  readonly flags?: { readonly presence?: string };
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
  return convert(schema.describe() as JoiDescription);
}

const ATTRIBUTES_SCHEMA: JsonSchema = {
  type: 'object',
  maxProperties: ATTRIBUTES.maxKeys,
  // Some JSON parsers set the prototype of an object through this name.
  propertyNames: { ...textSchema(ATTRIBUTES.key), not: { const: '__proto__' } },
  additionalProperties: {
    anyOf: [
      { type: 'string', ...textSchema(ATTRIBUTES.text) },
      { type: 'number', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'boolean' },
    ],
  },
};

const TYPES: Readonly<Record<string, (described: JoiDescription) => JsonSchema>> = {
  object: ({ keys = {} }) => objectSchema(keys),
  attributes: () => ATTRIBUTES_SCHEMA,
  list: ({ items }) => ({ type: 'array', ...(items && { items: convert(items[0]) }) }),
  text: () => ({ type: 'string' }),
  string: () => ({ type: 'string' }),
  number: () => ({ type: 'number' }),
};

const RULES: Readonly<Record<string, (args: Args) => JsonSchema>> = {
  integer: () => ({ type: 'integer' }),
  pattern: ({ regex }) => ({ pattern: String(regex).slice(1, -1) }),
  validatedBy: ({ validator }) => (validator as TextValidator).jsonSchema,
  // JSON Schema cannot express other forms of equality.
  distinct: () => ({ uniqueItems: true }),
  'number.min': ({ limit }) => ({ minimum: limit }),
  'number.max': ({ limit }) => ({ maximum: limit }),
  'list.min': ({ limit }) => ({ minItems: limit }),
  'list.max': ({ limit }) => ({ maxItems: limit }),
};

function convert(described: JoiDescription): JsonSchema {
  const { type, rules = [] } = described;
  const fromRules = rules.map(({ name, args = {} }) =>
    known(RULES[`${type}.${name}`] ?? RULES[name], `${type}.${name}`)(args),
  );
  return Object.assign({}, known(TYPES[type], type)(described), ...fromRules);
}

/** Without additional properties, because unknown fields are rejected. */
function objectSchema(keys: Readonly<Record<string, JoiDescription>>): JsonSchema {
  const sendable = Object.entries(keys).filter(([, { flags }]) => flags?.presence !== 'forbidden');
  const required = sendable.filter(([, { flags }]) => flags?.presence === 'required').map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(sendable.map(([name, described]) => [name, convert(described)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function known<Conversion>(conversion: Conversion | undefined, name: string): Conversion {
  if (!conversion) throw new Error(`No JSON Schema is defined for joi's ${name}.`);
  return conversion;
}
