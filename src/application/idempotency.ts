import { createHash } from 'node:crypto';
import { CatalogueError } from '../domain/errors.js';
import { canonicalJson } from './canonical-json.js';
import { NO_ID, type Reservation } from './ports/idempotency-store.js';

/** What a request to create something says so that it is done once, however often it is sent. */
export interface Once {
  /** See {@link Reservation.key}. */
  readonly key: string;
  readonly fingerprint: string;
  /** Whether the answer shows the fields beside the id. */
  readonly showsFields: boolean;
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

/** Alike for two bodies that are the same value, however they were written. */
export function fingerprintOf(body: unknown): string {
  return sha256(canonicalJson(body));
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
