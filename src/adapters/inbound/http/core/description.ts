import type { JsonSchema } from './json-schema.js';

/** A parameter of the query. */
export interface ParameterDescription {
  readonly name: string;
  readonly description: string;
  readonly required?: true;
  readonly schema: JsonSchema;
  /** How an object is written in a query (OpenAPI 3.1 section 4.8.12.2). */
  readonly style?: 'deepObject';
  /** The schemas of the values behind operators that follow a member of an object. */
  readonly 'x-operators'?: Readonly<Record<string, JsonSchema>>;
  /** Whether each element of an array, or member of an object, is a parameter of its own. */
  readonly explode?: boolean;
  readonly example: unknown;
}

/** How the documentation names a resource. */
export interface ResourceDocs {
  /** In names of schemas and operations: `Product`. */
  readonly name: string;
  /** In sentences, with its article: `a product`. */
  readonly singular: string;
  /** In sentences: `products`. Its operations have this tag, capitalized. */
  readonly plural: string;
  /** What the records are, and what clients should know. CommonMark. */
  readonly description: string;
  /** The names of schemas for the objects, list elements or choices in these fields: `price` is a `Price`. */
  readonly schemaNames?: Readonly<Record<string, string>>;
}

/** The tag of the operations of a resource. */
export function tagOf({ plural }: ResourceDocs): string {
  return plural.charAt(0).toUpperCase() + plural.slice(1);
}
