import { createHash } from 'node:crypto';
import { CatalogueError } from '../domain/errors.js';
import { canonicalJson } from '../shared/canonical-json.js';
import { NO_ID, type Reservation } from './ports/idempotency-store.js';

/** What a request to create something says so that it is done once, however often it is sent. */
export interface Once {
  /** See {@link Reservation.key}. */
  readonly key: string;
  readonly fingerprint: string;
  /** Whether the answer shows the fields beside the id. */
  readonly showsFields: boolean;
}

/** Reads the body only where it is to be compared or kept. */
export function onceByBody(key: string, body: unknown, showsFields: boolean): Once {
  let fingerprint: string | undefined;
  return {
    key,
    showsFields,
    get fingerprint() {
      fingerprint ??= fingerprintOf(body);
      return fingerprint;
    },
  };
}

/**
 * The name under which a request is reserved. Of an idempotency key only its digest is kept: it may be of any length, and tell
 * something of who made it.
 * @param principal whose key it is; with no NUL in the key the two cannot run into each other
 */
export function reservationKey(principal: string, idempotencyKey: string): string {
  return sha256(`${idempotencyKey}\0${principal}`);
}

/** What stands under the key of a stream itself, whatever its lines are: no body has this fingerprint. */
export const STREAM: Omit<Reservation, 'key' | 'reservedAt'> = { fingerprint: 'stream', id: NO_ID };

/** The name under which one line of a stream is reserved. */
export function lineKey(streamKey: string, line: number): string {
  return `${streamKey}/${line}`;
}

/** No record has more values. */
const MAX_VALUES = 5_000;

/**
 * Alike for two bodies that are the same value, however they were written. Of a body that is larger than any record the order
 * of its members counts: it is refused whatever it is compared with, and shall cost little.
 */
export function fingerprintOf(body: unknown): string {
  return sha256(hasMoreValues(body, MAX_VALUES) ? JSON.stringify(body) : canonicalJson(body));
}

function hasMoreValues(body: unknown, count: number): boolean {
  let left = count;
  const look = (part: unknown): boolean => {
    if (--left < 0) return true;
    return typeof part === 'object' && part !== null && Object.values(part).some(look);
  };
  return look(body);
}

export function keyReused(): CatalogueError {
  return new CatalogueError(
    'idempotency_key_reused',
    'This idempotency key was used for another body. Use a new key for a new request.',
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
