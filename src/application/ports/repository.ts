import type { Id, Instant, Versioned } from '../../domain/record.js';
import type { ListPage, ListQuery } from '../list-query.js';

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
   * @returns false where the id belongs, or ever belonged, to a record; then nothing is written
   * @throws CatalogueError `duplicate_value` where another record has the value of a unique field
   */
  insert(record: Versioned<Fields>): Promise<boolean>;

  find(id: Id): Promise<Versioned<Fields> | undefined>;

  /** @param field one that is unique in this resource */
  findByUnique(field: keyof Fields & string, value: string): Promise<Versioned<Fields> | undefined>;

  list(query: ListQuery): Promise<ListPage<Versioned<Fields>>>;

  /**
   * Compare-and-write: puts `record` in the place of the one with its id, if that one's version is `expected`.
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
