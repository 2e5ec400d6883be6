import type { CatalogueError } from '../../domain/errors.js';
import type { Id, Instant, Versioned } from '../../domain/record.js';
import type { Filter, ListPage, ListQuery } from '../list-query.js';

/** `taken`: the id belongs, or belonged, to another record. An error: `duplicate_value`. */
export type InsertOutcome = 'inserted' | 'id_conflict' | CatalogueError;

/**
 * Keeps the records of one resource. What goes in and what comes out are copies: changing either changes nothing kept.
 * Every method may throw a CatalogueError `unavailable`; a write that threw it may or may not have been done.
 */
export interface Repository<Fields> {
  /**
   * Sets aside `count` ids for the caller, for ever.
   * @returns the first of them; the others follow it without a gap
   */
  reserveIds(count: number): Promise<Id>;

  /** Gives back the ids from `first` up to, not including, `end`, where none was reserved after them. */
  releaseIds(first: Id, end: Id): Promise<void>;

  /**
   * @returns false where the id belongs to a record or a tombstone; then nothing is written
   * @throws CatalogueError `duplicate_value` where another record has the value of a unique field
   */
  insert(record: Versioned<Fields>): Promise<boolean>;

  /**
   * Inserts many at once, each for itself: one that is refused stops no other.
   * @returns what became of each, in the order of the records
   */
  insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]>;

  find(id: Id): Promise<Versioned<Fields> | undefined>;

  /** @returns those of the ids that records have */
  findExistingIds(ids: readonly Id[]): Promise<ReadonlySet<Id>>;

  /** @returns those of the ids that records have, or had: a tombstone keeps them */
  findUsedIds(ids: readonly Id[]): Promise<ReadonlySet<Id>>;

  /** @param field one that is unique in this resource and heeds case */
  findByUnique(field: keyof Fields & string, value: string): Promise<Versioned<Fields> | undefined>;

  /**
   * Following the places of the pages shows every record that exists throughout, and whose values of the order stay as
   * they are, exactly once, whatever else is written meanwhile.
   * @throws CatalogueError `query_too_expensive` where no index serves the query and it is not done in time
   */
  list(query: ListQuery): Promise<ListPage<Versioned<Fields>>>;

  /**
   * How many records a list with these filters has.
   * @param client as in {@link ListQuery}
   * @throws CatalogueError `query_too_expensive` where it is not counted in time
   */
  count(filters: readonly Filter[], client?: string): Promise<number>;

  /**
   * Compare-and-write: puts `record` in the place of the one with its id, if that one's version is `expected`. When it was
   * created is the same in both.
   * @returns whether it was
   * @throws CatalogueError `duplicate_value`, as {@link insert}
   */
  replace(record: Versioned<Fields>, expected: number): Promise<boolean>;

  /**
   * Compare-and-delete. A tombstone keeps the id taken; it stands in no list, look-up or unique index.
   * @returns whether the record was there in the version `expected`
   */
  remove(id: Id, expected: number, at: Instant): Promise<boolean>;
}
