import type { FieldSet } from '../domain/fields.js';

/** One page of a list, as plain values: what every store must answer alike. */
export interface ListQuery {
  /** At most so many records, from 1. A store may end a page earlier where the records are large. */
  readonly limit: number;
  /** About so many bytes of records end a page, whatever its limit. Absent: {@link MAX_PAGE_BYTES}. */
  readonly bytes?: number;
  /**
   * A page behind others of a list that was promised whole: where a store can, it looks for it to the end, however long
   * that takes.
   */
  readonly isSequel?: true;
  /** Of a record in the list all hold. */
  readonly filters: readonly Filter[];
  readonly order: Order;
  /** Absent: the first page. */
  readonly from?: ListPlace;
  /** Who asks: a principal, else an address. Bounds on what is under way count for each client. */
  readonly client?: string | undefined;
}

export type Value = string | number;

/** A record that lacks the field matches no filter. Texts are compared as they are, nothing in them means anything else. */
export type Filter = Comparison | Membership | AttributeFilter;

export interface Comparison {
  /** A field of the resource, or of every record's metadata. */
  readonly field: string;
  /** `prefix`: of texts alone. */
  readonly operator: 'eq' | 'ne' | 'lt' | 'lte' | 'gt' | 'gte' | 'prefix';
  /** As the field's type is. An instant may lie between two milliseconds. */
  readonly value: Value;
}

export interface Membership {
  readonly field: string;
  readonly operator: 'in';
  readonly values: readonly Value[];
}

/** Holds where the attribute is this text, or a number or boolean that is written so. */
export interface AttributeFilter {
  readonly field: 'attributes';
  readonly operator: 'attribute';
  readonly key: string;
  readonly value: string;
}

/** Of fields that every record has. The last is `id`, which stands nowhere else, so that no two records tie. */
export type Order = readonly SortKey[];

export interface SortKey {
  readonly field: string;
  readonly descending: boolean;
}

export const BY_ID: Order = [{ field: 'id', descending: false }];

export interface ListPage<Item> {
  /** In the list's order, also where the page was reached backwards. */
  readonly records: readonly Item[];
  /**
   * Whether more lie beyond the page, in the direction in which it was read. A store may say so where it would have to
   * search long to be sure.
   */
  readonly hasMore: boolean;
}

/**
 * About so many bytes of records end a page, whatever its limit: one request must not keep others waiting, nor fill
 * the memory.
 */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** A place in the order. It stays good when the record that was there is gone. */
export interface ListPlace {
  /** Which way the page lies from it. */
  readonly side: 'after' | 'before';
  /** Whether a record right at the place belongs to the page. */
  readonly inclusive: boolean;
  /** The place's value of each key of the order. */
  readonly values: readonly Value[];
}

/** What the stores need to know of a resource. */
export interface RecordTable {
  /** Of the table or collection, and of the counter that its ids come from. */
  readonly name: string;
  /** Those that lists ask for and those that are unique; {@link METADATA} beside them. */
  readonly fields: FieldSet;
  /** The first id that may be reserved. */
  readonly firstId: number;
}
