import type { Id } from '../domain/record.js';

/**
 * One page of a list, as plain values: what every store must answer alike.
 * Records come in ascending order of id; a page that lies before a place ends right before it.
 */
export interface ListQuery {
  /** At most so many records, from 1. */
  readonly limit: number;
  /** Absent: the first page. */
  readonly from?: ListPlace;
}

/** A place between two records. It stays good when the record that it names is gone. */
export interface ListPlace {
  readonly side: 'after' | 'before';
  readonly id: Id;
}
