import { createHash } from 'node:crypto';
import { AppError, unavailable } from '../../domain/errors.js';
import type { Instant, Versioned } from '../../domain/record.js';
import { canonicalJson, hasMoreValues } from '../../shared/json.js';
import { NO_ID, type Reservation } from '../ports/idempotency-store.js';
import { StoredRecord } from './record-json.js';

/** The versions of a record that a write may change. */
export interface Precondition {
  /** Absent: every version. */
  readonly only?: readonly number[];
  /** Absent: none. */
  readonly never?: readonly number[] | 'any';
}

export const ANY_VERSION: Precondition = {};

export function isMet({ only, never }: Precondition, version: number): boolean {
  return (only === undefined || only.includes(version)) && never !== 'any' && !never?.includes(version);
}

/** A write without a precondition is given up after it loses this many races in a row. Nothing is written then. */
export const MAX_ATTEMPTS = 64;

/** The error of a write that lost {@link MAX_ATTEMPTS} races. */
export function tooManyRaces(): AppError {
  return unavailable('Too many other requests are changing this record. Nothing was written; try again.');
}

/** Returns the next version of a record. `updatedAt` never goes back, also if the clock was set back. */
export function nextVersion<Fields>(current: Versioned<Fields>, fields: Fields, now: Instant): StoredRecord<Fields> {
  const updatedAt = Math.max(now, current.updatedAt);
  return StoredRecord.of({ ...current, version: current.version + 1, updatedAt, fields });
}

/** Returns the time of a tombstone. If the clock was set back, it still outlives the reservation of the id. */
export function timeOfDeletion({ updatedAt }: Versioned<unknown>, now: Instant): Instant {
  return Math.max(now, updatedAt);
}

/** A request that creates one record, even if it is sent several times. */
export interface IdempotentRequest {
  /** See {@link Reservation.key}. */
  readonly key: string;
  readonly fingerprint: string;
  /** Whether the response shows the fields besides the id. */
  readonly storesFields: boolean;
}

/** Returns a request that computes the fingerprint of its body at the first use. */
export function idempotentRequest(
  request: Pick<IdempotentRequest, 'key' | 'storesFields'> & { readonly body: unknown },
): IdempotentRequest {
  const { key, storesFields, body } = request;
  let fingerprint: string | undefined;
  return {
    key,
    storesFields,
    get fingerprint() {
      fingerprint ??= bodyFingerprint(body);
      return fingerprint;
    },
  };
}

/**
 * The key of a reservation. Only a digest of the idempotency key is stored, because the key may have any length and may
 * reveal something about the client.
 * @param principal the owner of the idempotency key; a NUL, which no idempotency key contains, separates the two
 */
export function reservationKey(principal: string, idempotencyKey: string): string {
  return sha256(`${idempotencyKey}\0${principal}`);
}

/** The reservation of a stream itself. No body has this fingerprint. */
export const STREAM: Omit<Reservation, 'key' | 'reservedAt'> = { fingerprint: 'stream', id: NO_ID };

/** The key of the reservation for one line of a stream. */
export function lineKey(streamKey: string, line: number): string {
  return `${streamKey}/${line}`;
}

/** A key can be in use at the insertion and expired at the read that follows, but hardly ever twice in a row. */
const MAX_INSERTIONS = 3;

/**
 * Makes reservations in a store that inserts them in one step, and reads those of the other keys in the next.
 * @param insert returns the keys whose reservations it has inserted
 * @returns the reservation of each key, new or existing
 */
export async function reserveInSteps(
  reservations: readonly Reservation[],
  insert: (missing: readonly Reservation[]) => Promise<ReadonlySet<string>>,
  find: (keys: readonly string[]) => Promise<ReadonlyMap<string, Reservation>>,
): Promise<ReadonlyMap<string, Reservation>> {
  const known = new Map<string, Reservation>();
  let missing = reservations.map((reservation) => ({ ...reservation }));
  for (let insertions = 0; missing.length > 0; insertions++) {
    if (insertions === MAX_INSERTIONS) throw unavailable('The reservation of a key could not be read.');
    const inserted = await insert(missing);
    for (const one of missing) if (inserted.has(one.key)) known.set(one.key, one);
    const refused = missing.map(({ key }) => key).filter((key) => !inserted.has(key));
    for (const [key, one] of await find(refused)) known.set(key, one);
    missing = missing.filter(({ key }) => !known.has(key));
  }
  return known;
}

/** No record has more values. */
const MAX_VALUES = 5_000;

/**
 * The fingerprint of a body. Two bodies with the same JSON value have the same fingerprint. If a body is larger than
 * any record, the order of its members counts: it is refused anyway, so it must cost little.
 */
export function bodyFingerprint(body: unknown): string {
  return sha256(hasMoreValues(body, MAX_VALUES) ? JSON.stringify(body) : canonicalJson(body));
}

export function keyReused(): AppError {
  return new AppError(
    'idempotency_key_reused',
    'This idempotency key was used for another body. Use a new key for a new request.',
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
