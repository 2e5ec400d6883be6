import type { TextRule } from '../../../../domain/text.js';

/** JSON Schema, draft 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown };

export function textSchema({ min, max, allowed }: TextRule): JsonSchema {
  return { ...(min > 0 && { minLength: min }), maxLength: max, pattern: allowed.source };
}

/** NDJSON (JSON Schema validation, section 8). OpenAPI has no term for it before version 3.2. */
export function ndjsonSchema(line: JsonSchema): JsonSchema {
  return {
    type: 'string',
    contentMediaType: 'application/x-ndjson',
    contentSchema: { type: 'array', items: line },
  };
}

/** A reference to a schema of the document. */
export function schemaRef(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}
