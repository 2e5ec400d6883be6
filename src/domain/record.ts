/** A positive integer, at most 2^53 − 1. The store assigns it and never assigns it twice. */
export type Id = number;

export const MAX_ID: Id = Number.MAX_SAFE_INTEGER;

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number;

/** The fields of a record before validation: each may be missing, or of any type. */
export type Unvalidated<Fields> = { readonly [Name in keyof Fields]?: unknown };

/** A record as it is stored. */
export interface Versioned<Fields> {
  readonly id: Id;
  /** Starts at 1, and grows by one with every write that changes something. */
  readonly version: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly fields: Fields;
  /** How many records it stands for in a list, itself among them. Only in a list of such records whose query asks. */
  readonly variants?: number;
}

/** The resources whose records clients write: each has a scope to read and one to write. */
export const RESOURCES = ['products', 'users', 'orders'] as const;

export type ResourceName = (typeof RESOURCES)[number];
