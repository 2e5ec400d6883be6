import {
  BY_ID,
  type ListQuery,
  type Order,
  type Position,
  type Value,
} from '#src/application/records/list-query.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import type { User } from '#src/domain/user.js';

/** To come, so that a server that removes what is old by itself lets it be. */
export const AT = Date.UTC(2126, 0, 2, 3, 4, 5, 678);

export function product(id: Id, fields: Partial<Product> = {}): Versioned<Product> {
  return { id, version: 1, createdAt: AT, updatedAt: AT, fields: { name: `product ${id}`, ...fields } };
}

export function user(id: Id, email: string): Versioned<User> {
  return { id, version: 1, createdAt: AT, updatedAt: AT, fields: { name: `user ${id}`, email } };
}

/** The version after `old`; of its fields the name alone stays. */
export function next(old: Versioned<Product>, fields: Partial<Product>): Versioned<Product> {
  return {
    ...old,
    version: old.version + 1,
    updatedAt: old.updatedAt + 1,
    fields: { name: old.fields.name, ...fields },
  };
}

/** In order of id, where nothing else is said. */
export function query(wanted: Partial<ListQuery>): ListQuery {
  return { limit: 100, filters: [], order: BY_ID, ...wanted };
}

/** As the parameter `sort` says it, with `id` in its place: `name,-id`. */
export function by(sort: string): Order {
  return sort.split(',').map((key) => ({ field: key.replace(/^-/, ''), descending: key.startsWith('-') }));
}

/** The place right behind (`after`) or before these values. */
export function at(side: Position['side'], ...values: Value[]): Position {
  return { side, inclusive: false, values };
}

/** These records' ids. */
export function idsOf(records: Iterable<{ readonly id: Id }>): Id[] {
  return Array.from(records, ({ id }) => id);
}
