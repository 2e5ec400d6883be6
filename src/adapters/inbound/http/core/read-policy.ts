import type { Filter } from '../../../../application/ports/list-query.js';
import type { Scope } from '../../../../domain/access.js';
import type { Versioned } from '../../../../domain/record.js';
import type { Context } from './context.js';

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
