import { BY_ID, type ListQuery, type Position, type SortOrder, type Value } from '#src/application/ports/list-query.js';
import { AppError } from '#src/domain/errors.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import type { User } from '#src/domain/user.js';

/** A time in the future, so that a server that purges expired entries by itself keeps them. */
export const AT = Date.UTC(2126, 0, 2, 3, 4, 5, 678);

export function product(id: Id, fields: Partial<Product> = {}): Versioned<Product> {
  return { id, version: 1, createdAt: AT, updatedAt: AT, fields: { name: `product ${id}`, ...fields } };
}

export function user(id: Id, email: string): Versioned<User> {
  return { id, version: 1, createdAt: AT, updatedAt: AT, fields: { name: `user ${id}`, email } };
}

/** The version after `old`, which keeps only the name of the old fields. */
export function next(old: Versioned<Product>, fields: Partial<Product>): Versioned<Product> {
  return {
    ...old,
    version: old.version + 1,
    updatedAt: old.updatedAt + 1,
    fields: { name: old.fields.name, ...fields },
  };
}

/** A query with defaults: all records in order of id. */
export function query(changes: Partial<ListQuery>): ListQuery {
  return { limit: 100, filters: [], order: BY_ID, ...changes };
}

/** Parses a complete `sort` parameter such as `name,-id`. */
export function by(sort: string): SortOrder {
  return sort.split(',').map((key) => ({ field: key.replace(/^-/, ''), descending: key.startsWith('-') }));
}

/** The position immediately after or before these values. */
export function at(side: Position['side'], ...values: Value[]): Position {
  return { side, inclusive: false, values };
}

/** The ids of these records. */
export function idsOf(records: Iterable<{ readonly id: Id }>): Id[] {
  return Array.from(records, ({ id }) => id);
}

/** The outcome of one record as text, such as `duplicate_value /sku` for an error. */
export function outcomeText(outcome: string | AppError): string {
  if (!(outcome instanceof AppError)) return outcome;
  return [outcome.code, ...outcome.details.map(({ pointer }) => pointer)].join(' ');
}
