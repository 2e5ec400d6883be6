import type { AppError } from '../../domain/errors.js';
import type { Id, Instant, Versioned } from '../../domain/record.js';
import type { Task } from '../../shared/task-scheduler.js';
import type { Facet, FacetQuery, Filter, ListPage, ListQuery, Value } from './list-query.js';

/**
 * `id_conflict`: the id belongs to a record or a tombstone. An error: `duplicate_value`, or `unavailable` if the server
 * refused this record alone.
 */
export type InsertOutcome = 'inserted' | 'id_conflict' | AppError;

/** `version_conflict`: the record has another version, or does not exist. An error: as of an {@link InsertOutcome}. */
export type ReplaceOutcome = 'replaced' | 'version_conflict' | AppError;

/** A record, and the version that it replaces. */
export interface Replacement<Fields> {
  readonly record: Versioned<Fields>;
  readonly expected: number;
  /** The fields of the version `expected`, for a store that would have to read them. Absent if they are not known. */
  readonly before?: Fields | undefined;
}

/** A deletion of the version `expected`. */
export interface Removal {
  readonly id: Id;
  readonly expected: number;
  /** When the record is deleted. Its tombstone is kept from then on. */
  readonly at: Instant;
}

export type RecordVersion = Pick<Versioned<unknown>, 'id' | 'version'>;

/**
 * Stores the records of one resource. Records are values: the caller changes no record that it has passed or got, not
 * even long afterwards, because the store may keep and share it. What a store returns is therefore either its own copy
 * or deeply frozen. Every method may throw an AppError `unavailable`; a write that threw it may still have succeeded.
 */
export interface Repository<Fields> {
  /**
   * Reserves `count` ids permanently.
   * @returns the first; the others follow it without a gap
   */
  reserveIds(count: number): Promise<Id>;

  /** Returns the ids from `first` to before `end` to the store, if no later id was reserved. */
  releaseIds(first: Id, end: Id): Promise<void>;

  /**
   * Inserts each record on its own: a refused record does not stop the others.
   * @returns the outcomes in the order of the records
   */
  insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]>;

  find(id: Id): Promise<Versioned<Fields> | undefined>;

  /**
   * Misses no acknowledged write, even where {@link find} may.
   * @returns whether each record has its version, in order
   */
  confirmAll(versions: readonly RecordVersion[]): Promise<readonly boolean[]>;

  /** @returns the ids that belong to records */
  findExistingIds(ids: readonly Id[]): Promise<ReadonlySet<Id>>;

  /** @returns the ids that belong to records or tombstones */
  findUsedIds(ids: readonly Id[]): Promise<ReadonlySet<Id>>;

  /**
   * @param field a unique field, or `id`
   * @param value of the field's type; compared without case if the field ignores case
   */
  findByUnique(field: string, value: Value): Promise<Versioned<Fields> | undefined>;

  /**
   * As {@link findByUnique}, for many values at once.
   * @returns for each value, in order, the record that has it
   */
  findAllByUnique(field: string, values: readonly Value[]): Promise<readonly (Versioned<Fields> | undefined)[]>;

  /**
   * Returns one page. A client that follows the positions of the pages sees a record exactly once if the record
   * exists all the time and its sort values do not change. Other writes make no difference.
   * @throws AppError `query_too_expensive` if no index serves the query and it is not done in time
   */
  list(query: ListQuery): Promise<ListPage<Versioned<Fields>>>;

  /**
   * Returns the number of records that match the filters.
   * @param distinct an optional field of text: records that share a value in it count once
   * @throws AppError `query_too_expensive` if the count is not done in time
   */
  count(filters: readonly Filter[], task?: Task, distinct?: string): Promise<number>;

  /**
   * Counts the records that match the filters by their values.
   * @returns a facet for each field, in order
   * @throws AppError `query_too_expensive` if the counts are not done in time
   */
  facets(query: FacetQuery): Promise<readonly Facet[]>;

  /**
   * Compare-and-write of each record on its own: replaces the record of the same id if its version is `expected`.
   * `createdAt` must not differ. A refused record does not stop the others. The store writes them in any order, so one
   * of them may be refused a value that another one gives up.
   * @returns the outcomes in the order of the replacements
   */
  replaceAll(replacements: readonly Replacement<Fields>[]): Promise<readonly ReplaceOutcome[]>;

  /**
   * Compare-and-delete of each record on its own: deletes the record if its version is `expected`. A tombstone keeps
   * the id used; it appears in no list, look-up or unique index.
   * @returns whether each was deleted, in order
   */
  removeAll(removals: readonly Removal[]): Promise<readonly boolean[]>;
}
