import type { AnySchema, Schema } from './openapi.js';
import { isReference, type References } from './references.js';

/** A schema's type in words: `integer`, `array of string`, `string or null`. */
export function typeText(schema: AnySchema | undefined, references: References, depth = 0): string {
  if (schema === undefined || schema === true) return 'any value';
  if (schema === false) return 'nothing';
  const found = references.schema(schema);
  const choices = found.oneOf ?? found.anyOf;
  if (choices && depth < 3)
    return [...new Set(choices.map((one) => typeText(one, references, depth + 1)))].join(' or ');
  if (isReference(schema) && found.properties) return modelName(schema.$ref) ?? 'object';
  return typesOf(found)
    .map((type) => (type === 'array' ? `array of ${typeText(found.items, references, depth + 1)}` : type))
    .join(' or ');
}

/** The name of the model that a reference points to. */
export function modelName(reference: string): string | undefined {
  return /^#\/components\/schemas\/([^/]+)$/.exec(reference)?.[1];
}

function typesOf(schema: Schema): readonly string[] {
  if (typeof schema.type === 'string') return [schema.type];
  if (schema.type) return schema.type;
  if (schema.const !== undefined || schema.enum) return [];
  return [schema.properties || schema.allOf ? 'object' : 'any value'];
}

/** Longer patterns are not shown, because nobody reads them. */
const MAX_PATTERN = 40;

/** The constraints on a value except its type, each in a few words. */
export function constraintsOf(schema: Schema, references: References): string[] {
  const itemChoices = references.schema(schema.items).enum;
  const terms = [
    schema.format,
    schema.enum && (schema.enum.length === 1 ? `always ${list(schema.enum)}` : `one of ${list(schema.enum)}`),
    itemChoices && `any of ${list(itemChoices)}`,
    schema.const === undefined ? undefined : `always ${JSON.stringify(schema.const)}`,
    between(bound(schema.minimum), bound(schema.maximum), ''),
    schema.exclusiveMinimum === undefined ? undefined : `more than ${schema.exclusiveMinimum}`,
    schema.exclusiveMaximum === undefined ? undefined : `less than ${schema.exclusiveMaximum}`,
    between(schema.minLength, schema.maxLength, 'character'),
    between(schema.minItems, schema.maxItems, 'item'),
    between(schema.minProperties, schema.maxProperties, 'member'),
    schema.uniqueItems ? 'each once' : undefined,
    schema.pattern && schema.pattern.length <= MAX_PATTERN && `matches ${schema.pattern}`,
    schema.default === undefined ? undefined : `default ${JSON.stringify(schema.default)}`,
    schema.readOnly ? 'read only' : undefined,
    schema.writeOnly ? 'write only' : undefined,
  ];
  return terms.filter((term): term is string => typeof term === 'string' && term !== '');
}

function list(values: readonly unknown[]): string {
  return values.map(String).join(', ');
}

/** A bound beyond the safe integers is not worth showing. */
function bound(value: number | undefined): number | undefined {
  return Math.abs(value ?? 0) >= Number.MAX_SAFE_INTEGER ? undefined : value;
}

function between(min: number | undefined, max: number | undefined, unit: string): string | undefined {
  if (min !== undefined && max !== undefined) return `${number(min)} to ${counted(max, unit)}`;
  if (min !== undefined) return `at least ${counted(min, unit)}`;
  return max === undefined ? undefined : `at most ${counted(max, unit)}`;
}

function counted(value: number, unit: string): string {
  return unit === '' ? number(value) : `${number(value)} ${unit}${value === 1 ? '' : 's'}`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}
