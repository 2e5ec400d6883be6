import type { Id, Instant, Versioned } from '../../domain/record.js';
import type { MaybePromise } from '../../shared/promises.js';
import type { DerivedTable } from './derived-data.js';

/**
 * A position between two changes of a feed, as the store writes it: at most 200 printable ASCII characters. It belongs to
 * an epoch of the feed, a random name that the store keeps: with another epoch it is expired.
 */
export type FeedPosition = string;

/** A record was deleted. */
export interface Deletion {
  readonly id: Id;
  /** One more than the last version of the record. */
  readonly version: number;
  readonly deleted: true;
}

/** A record that was created or changed, as it is now, or a deletion. */
export type RecordChange<Fields> = Versioned<Fields> | Deletion;

export interface ChangePage<Fields> {
  /** Oldest change first; a record occurs once, at its last change. */
  readonly changes: readonly RecordChange<Fields>[];
  /** The position behind these changes, or behind all that was looked at. */
  readonly next: FeedPosition;
}

/**
 * Which records of a table changed, in an order that never skips one: a reader of page after page learns of every change
 * at least once. Only the last change of a record is kept. Every method may throw an AppError `unavailable`.
 */
export interface ChangeFeed<Fields> {
  /**
   * Returns a position that is before every change that is acknowledged from now on, and behind others if possible.
   * @throws AppError `unavailable`, also if the feeds are off
   */
  end(): Promise<FeedPosition>;

  /**
   * Returns the changes behind a position: at most `limit`, fewer if they are large, at least one if there is any.
   * @param limit from 1 to 1,000
   * @param until of this feed, at or behind `after`; changes behind it are left out
   * @returns undefined if changes behind `after` may be missing: it is of another epoch, beyond the newest change, or
   *   before the low watermark, under which tombstones were purged; or the feeds are off
   */
  read(after: FeedPosition, limit: number, until?: FeedPosition): Promise<ChangePage<Fields> | undefined>;
}

/** Whether a store writes its feeds. The state is kept in the store, for all processes. */
export interface FeedState {
  /**
   * What takes long before feeds can be turned on: each record is numbered that was written without them. Absent if they
   * can be turned on at once.
   */
  readonly unnumbered?: readonly DerivedTable[];
  /** From now on the feeds are written. Positions from before stay valid only if they were written all the time. */
  turnOn(): Promise<void>;
  /** From now on the feeds are not written, and cost nothing. All positions expire. */
  turnOff(): Promise<void>;
  /** Makes all positions expire, and begins a new {@link generation}, whether the feeds are on or off. */
  reset(): Promise<void>;
  /**
   * Returns the random name of what the store holds since it was last replaced, 10 hexadecimal digits; undefined if it
   * never was. Versions and ids of another generation may have belonged to other contents.
   */
  generation(): MaybePromise<string | undefined>;
  /**
   * Returns when the first of the changes was made that no feed shows yet, because an earlier write has not ended;
   * undefined if there is none. Absent if a feed shows every change at once.
   */
  oldestHidden?(): Promise<Instant | undefined>;
  /** Does the work that a store has with its feeds now and then while they are on. Absent if it has none. */
  maintain?(now: Instant): Promise<void>;
}
