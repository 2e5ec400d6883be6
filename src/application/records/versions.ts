import { type AppError, unavailable } from '../../domain/errors.js';
import type { Instant, Versioned } from '../../domain/record.js';
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
export function nextVersion<Fields>(
  current: Versioned<Fields>,
  fields: Fields,
  now: Instant,
): StoredRecord<Fields> {
  const updatedAt = Math.max(now, current.updatedAt);
  return StoredRecord.of({ ...current, version: current.version + 1, updatedAt, fields });
}

/** Returns the time of a tombstone. If the clock was set back, it still outlives the reservation of the id. */
export function timeOfDeletion({ updatedAt }: Versioned<unknown>, now: Instant): Instant {
  return Math.max(now, updatedAt);
}
