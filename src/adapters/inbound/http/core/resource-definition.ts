import type { Filter } from '../../../../application/ports/list-query.js';
import type { RecordFormat } from '../../../../application/records/record-format.js';
import type { Scope } from '../../../../domain/access.js';
import type { FieldSpecs, FieldTable } from '../../../../domain/fields.js';
import type { Versioned } from '../../../../domain/record.js';
import type { JsonObject } from '../../../../shared/json.js';
import type { Context, VersionDeprecation } from './context.js';
import type { JsonSchema } from './json-schema.js';

/** A resource in one version of the API, as values and functions. The shared handlers read it. */
export interface ResourceDefinition<Fields> extends RecordFormat<Fields> {
  /** The plural noun in the path. */
  readonly path: string;
  /** The version of the API. Several versions can serve the same records. */
  readonly version: number;
  readonly deprecation?: VersionDeprecation;
  readonly readScope: Scope;
  readonly writeScope: Scope;
  /** The fields by which lists can be filtered and sorted, in addition to the system fields. */
  readonly fields: FieldSpecs;
  /** Whether lists can be searched by words. */
  readonly isSearchable: boolean;
  /** The fields that a client may send, as this version of the API names them. */
  readonly table: FieldTable;
  /** A valid body with every field. */
  readonly example: Readonly<Record<string, unknown>>;
  /** Fields that responses show and clients cannot send, in addition to the id. */
  readonly readOnlyFields?: Readonly<Record<string, JsonSchema>>;
  /** Those of {@link readOnlyFields}, and of the optional fields, that every response has. */
  readonly alwaysPresent?: readonly string[];
  /** All values of a choice that responses show, if clients cannot send each of them. */
  readonly shownValues?: Readonly<Record<string, readonly string[]>>;
  /** What the response alone that makes it shows. Absent: no record has a secret. */
  readonly secret?: { readonly name: string; readonly schema: JsonSchema; readonly example: string };
  /** Those of {@link readOnlyFields} that a single record shows, and lists do not. */
  readonly itemFields?: readonly string[];
  readonly docs: ResourceDocs;
  /** What the entity tag identifies besides the version of the record. */
  readonly tagState?: TagState<Fields>;
}

/** What the query of a list depends on. */
export type ListedResource = Pick<ResourceDefinition<never>, 'fields' | 'isSearchable' | 'example' | 'readOnlyFields'>;

/** The fields that every response with a record has. */
export function presentFields({
  table,
  alwaysPresent = [],
}: Pick<ResourceDefinition<never>, 'table' | 'alwaysPresent'>): string[] {
  const required = Object.entries(table).filter(([, field]) => field.required);
  return ['id', ...required.map(([name]) => name), ...alwaysPresent];
}

const EXAMPLE_TIME = '2026-01-31T12:00:00.000Z';

/** A record with a value in every field by which lists can be filtered. */
export function exampleRecord({ example, readOnlyFields = {} }: ListedResource): JsonObject {
  const readOnly = Object.entries(readOnlyFields).flatMap(([name, { examples }]) =>
    Array.isArray(examples) ? [[name, examples[0]]] : [],
  );
  const more = { ...Object.fromEntries(readOnly), createdAt: EXAMPLE_TIME, updatedAt: EXAMPLE_TIME };
  return { id: 1, ...example, ...more };
}

export interface TagState<Fields> {
  /** Returns what the tag has behind the version; an empty text if nothing. */
  of(record: Versioned<Fields>): string;
  /** A regular expression, without groups, that matches the result of {@link of}. */
  readonly pattern: string;
}

/** Who may read the records of a resource, and how long caches keep them. */
export interface ReadPolicy<Fields> {
  /** The `Cache-Control` of what a credential is needed for. */
  readonly cacheControl: string;
  /** Absent: nobody reads without a credential. */
  readonly publicView?: PublicView<Fields> | undefined;
}

/** What everybody may read. */
export interface PublicView<Fields> {
  readonly cacheControl: string;
  readonly filter: Filter;
  /** Whether a record matches the filter. */
  includes(record: Versioned<Fields>): boolean;
}

/** How one request reads. */
export interface Reading<Fields> {
  readonly cacheControl: string;
  /** Absent: every record. */
  readonly only?: PublicView<Fields>;
}

/** A credential without the scope of reading sees what everybody sees, and no shared cache keeps it. */
export function readingOf<Fields>(
  { state: { principal } }: Context,
  readScope: Scope,
  { cacheControl, publicView }: ReadPolicy<Fields>,
): Reading<Fields> {
  if (!publicView || principal?.scopes.includes(readScope)) return { cacheControl };
  return { cacheControl: principal ? cacheControl : publicView.cacheControl, only: publicView };
}

/** The request headers by which reads differ. */
export function varyByReader({ publicView }: ReadPolicy<never>): readonly string[] {
  return publicView ? ['Authorization'] : [];
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

export function tagOf({ plural }: ResourceDocs): string {
  return plural.charAt(0).toUpperCase() + plural.slice(1);
}
