/** A positive integer, at most 2^53 − 1, given by the store and never given twice. */
export type Id = number;

export const MAX_ID: Id = Number.MAX_SAFE_INTEGER;

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number;

/** A record's fields as somebody sent them: each may be missing, or anything at all. */
export type Unjudged<Fields> = { readonly [Name in keyof Fields]?: unknown };

/** What every stored thing has beside its own fields. */
export interface Versioned<Fields> {
  readonly id: Id;
  /** From 1; grows by one with every write that changes something. */
  readonly version: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly fields: Fields;
}
