import type { Id, Instant } from '../domain/record.js';
import type { RecordEntry } from './ports/archive.js';
import type { Reservation } from './ports/idempotency-store.js';
import { HOUR_MS, RESERVATION_MS, RESERVATION_PROMISED_MS } from './retention.js';

/**
 * A tombstone is needed for as long as a reservation of its id may live, which was made before it. It is kept for longer
 * still, and a copy of records takes less than the difference.
 */
export const TOMBSTONE_NEEDED_MS = RESERVATION_MS + 12 * HOUR_MS;

/** What there is to know of the entries that are copied. */
export interface CopyRules<Key extends number | string, Entry> {
  /** Comes before every key. */
  readonly beforeAll: Key;
  keyOf(entry: Entry): Key;
  /** What reports call it; all that they count. */
  readonly nouns: readonly string[];
  nounOf(entry: Entry): string;
  /**
   * Whether nobody needs it any more: it is not copied, and may vanish from either side, or be left in the target by an
   * earlier run.
   */
  isPast(entry: Entry): boolean;
  /** Whether the target's entry cannot have come from the source, though it has the key of another one there. */
  isForeign(source: Entry, target: Entry): boolean;
}

/** @param tombstonesSince those that are older are needed no more */
export function recordRules(tombstonesSince: Instant): CopyRules<Id, RecordEntry> {
  return {
    beforeAll: 0,
    keyOf: ({ id }) => id,
    nouns: ['record', 'tombstone'],
    nounOf: (entry) => ('deletedAt' in entry ? 'tombstone' : 'record'),
    isPast: (entry) => 'deletedAt' in entry && entry.deletedAt < tombstonesSince,
    // A record never gets another time of creation, and never comes back from a tombstone.
    isForeign: (source, target) => {
      if ('deletedAt' in source) return false;
      return (
        'deletedAt' in target || target.createdAt !== source.createdAt || target.version > source.version
      );
    },
  };
}

export function reservationRules(now: Instant): CopyRules<string, Reservation> {
  // It is kept for an hour longer, and a copy of reservations takes less than that.
  const isPast = ({ reservedAt }: Reservation) => reservedAt < now - RESERVATION_PROMISED_MS;
  return {
    beforeAll: '',
    keyOf: ({ key }) => key,
    nouns: ['reservation'],
    nounOf: () => 'reservation',
    isPast,
    // A reservation never changes; but when it has grown old its key may be used anew.
    isForeign: (_source, target) => !isPast(target),
  };
}
