import { MAX_ID } from '../../../../domain/record.js';
import type { TextRule } from '../../../../domain/text.js';
import { NDJSON } from './media-types.js';

/** JSON Schema, draft 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown };

export type Properties = Readonly<Record<string, JsonSchema>>;

export interface ObjectSchema extends JsonSchema {
  readonly properties: Properties;
  readonly required?: readonly string[];
}

export const TEXT: JsonSchema = { type: 'string' };

/** A JSON number is exact up to 2^53−1, and code generators take an integer without a format for one of 32 bits. */
export function integerSchema(minimum: number, maximum: number): JsonSchema {
  const is64Bit = minimum < -(2 ** 31) || maximum >= 2 ** 31;
  return { type: 'integer', ...(is64Bit && { format: 'int64' }), minimum, maximum };
}

/** The schema of a text with its meaning. */
export function text(description: string, more: JsonSchema = {}): JsonSchema {
  return { ...TEXT, ...more, description };
}

/** The schema of an integer with its meaning. By default, it is an id, a version or a number of something. */
export function whole(description: string, minimum = 1, maximum = MAX_ID): JsonSchema {
  return { ...integerSchema(minimum, maximum), description };
}

export function flag(description: string): JsonSchema {
  return { type: 'boolean', description };
}

export function arrayOf(items: JsonSchema, maxItems: number, description: string): JsonSchema {
  return { type: 'array', maxItems, items, description };
}

/** A time in responses. */
export function instantSchema(description: string): JsonSchema {
  return text(`${description}: RFC 3339, in UTC.`, { format: 'date-time' });
}

export function textSchema({ min, max, allowed, pattern = allowed }: TextRule): JsonSchema {
  return { ...(min > 0 && { minLength: min }), maxLength: max, pattern: pattern.source };
}

/** The body of a request: an unknown field is refused. */
export function closed(properties: Properties, required: readonly string[] = []): ObjectSchema {
  return objectOf(properties, required, false);
}

/** The body of a response: a later version of the service may add fields, and clients must ignore them. */
export function open(properties: Properties, required: readonly string[] = Object.keys(properties)): ObjectSchema {
  return objectOf(properties, required, true);
}

function objectOf(properties: Properties, required: readonly string[], isOpen: boolean): ObjectSchema {
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: isOpen,
  };
}

/** NDJSON (JSON Schema validation, section 8). OpenAPI has no term for it before version 3.2. */
export function ndjsonSchema(line: JsonSchema): JsonSchema {
  return {
    type: 'string',
    contentMediaType: NDJSON,
    contentSchema: { type: 'array', items: line },
  };
}

/** A reference to a schema of the document. */
export function schemaRef(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}
