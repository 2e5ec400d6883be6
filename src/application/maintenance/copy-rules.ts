import { type Id, type Instant, MAX_ID } from '../../domain/record.js';
import type { RecordEntry } from '../ports/archive.js';
import type { Reservation } from '../ports/idempotency-store.js';
import { HOUR_MS, RESERVATION_MS, RESERVATION_PROMISED_MS } from './retention.js';

/**
 * How long a tombstone is needed: as long as a reservation of its id may live. Stores keep it longer, and a copy of
 * records takes less time than the difference.
 */
export const TOMBSTONE_NEEDED_MS = RESERVATION_MS + 12 * HOUR_MS;

export type CopiedFields = (fields: unknown) => unknown;

/** The keys, kinds and expiry of the entries of a copy, and what a copy changes. */
export interface CopyRules<Key extends number | string, Entry> {
  /** A value before every key. */
  readonly beforeAll: Key;
  keyOf(entry: Entry): Key;
  /** Whether a key that a store returned is allowed. */
  isKey(key: unknown): boolean;
  /** Which keys are allowed, for a person. */
  readonly keys: string;
  /** The kinds of entries, as reports name them. */
  readonly nouns: readonly string[];
  nounOf(entry: Entry): string;
  /** Entries that expire and are older have expired. */
  readonly since: Instant;
  /**
   * Whether the entry has expired. An expired entry is not copied, may be purged on either side, and may remain in the
   * target from an earlier run.
   */
  isPast(entry: Entry): boolean;
  /** Returns the entry as the target shall have it. */
  copied(source: Entry): Entry;
  /** Whether the target's entry cannot be a copy, although the source has an entry with the same key. */
  isForeign(source: Entry, target: Entry): boolean;
}

/**
 * @param tombstonesSince older tombstones are not needed
 * @param copiedFields returns the fields of a record as the target shall have them. Default: the same
 */
export function recordRules(
  tombstonesSince: Instant,
  copiedFields: CopiedFields = (fields) => fields,
): CopyRules<Id, RecordEntry> {
  return {
    beforeAll: 0,
    keyOf: ({ id }) => id,
    isKey: (key) => Number.isSafeInteger(key) && Number(key) >= 1,
    keys: `a whole number from 1 to ${MAX_ID}`,
    nouns: ['record', 'tombstone'],
    nounOf: (entry) => ('deletedAt' in entry ? 'tombstone' : 'record'),
    since: tombstonesSince,
    isPast: (entry) => 'deletedAt' in entry && entry.deletedAt < tombstonesSince,
    copied: (entry) => ('fields' in entry ? { ...entry, fields: copiedFields(entry.fields) } : entry),
    // The time of creation never changes, and a tombstone never becomes a record again.
    isForeign: (source, target) => {
      if ('deletedAt' in source) return false;
      return (
        'deletedAt' in target || target.createdAt !== source.createdAt || target.version > source.version
      );
    },
  };
}

export function reservationRules(now: Instant): CopyRules<string, Reservation> {
  // Stores keep a reservation for one more hour. A copy of reservations takes less than that.
  const since = now - RESERVATION_PROMISED_MS;
  const isPast = ({ reservedAt }: Reservation) => reservedAt < since;
  return {
    beforeAll: '',
    keyOf: ({ key }) => key,
    isKey: (key) => typeof key === 'string' && key !== '',
    keys: 'a text with a character',
    nouns: ['reservation'],
    nounOf: () => 'reservation',
    since,
    isPast,
    copied: (entry) => entry,
    // A reservation never changes, but its key may be used again after it expires.
    isForeign: (_source, target) => !isPast(target),
  };
}
