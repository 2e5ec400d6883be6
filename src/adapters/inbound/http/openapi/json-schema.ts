import type { TextRule } from '../../../../domain/text.js';

/** JSON Schema, draft 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown };

export function textSchema({ min, max, allowed }: TextRule): JsonSchema {
  return { ...(min > 0 && { minLength: min }), maxLength: max, pattern: allowed.source };
}
