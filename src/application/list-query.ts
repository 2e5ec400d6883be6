import type { Id } from '../domain/record.js';

/**
 * One page of a list, as plain values: what every store must answer alike.
 * Records come in ascending order of id; a page that lies before a place ends right before it.
 */
export interface ListQuery {
  /** At most so many records, from 1. A store may end a page earlier where the records are large. */
  readonly limit: number;
  /** Absent: the first page. */
  readonly from?: ListPlace;
}

export interface ListPage<Item> {
  readonly records: readonly Item[];
  /** Whether more lie beyond the page, in the direction in which it was read. */
  readonly hasMore: boolean;
}

/**
 * About so many bytes of records make a page, whatever its limit: one request must not keep others waiting, nor fill
 * the memory.
 */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** A place between two records. It stays good when the record that it names is gone. */
export interface ListPlace {
  readonly side: 'after' | 'before';
  readonly id: Id;
}
