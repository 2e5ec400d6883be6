import { createHash } from 'node:crypto';
import { AppError } from '../../domain/errors.js';
import { canonicalJson, hasMoreValues } from '../../shared/canonical-json.js';
import { NO_ID, type Reservation } from '../ports/idempotency-store.js';

/** A request to create a record that takes effect once, however often it is sent. */
export interface IdempotentRequest {
  /** See {@link Reservation.key}. */
  readonly key: string;
  readonly fingerprint: string;
  /** Whether the response shows the fields beside the id. */
  readonly storesFields: boolean;
}

/** Computes the fingerprint of the body when it is first asked for. */
export function idempotentRequest(
  request: Pick<IdempotentRequest, 'key' | 'storesFields'> & { readonly body: unknown },
): IdempotentRequest {
  const { key, storesFields, body } = request;
  let fingerprint: string | undefined;
  return {
    key,
    storesFields,
    get fingerprint() {
      fingerprint ??= fingerprintOf(body);
      return fingerprint;
    },
  };
}

/**
 * The key of a reservation. Only a digest of the idempotency key is stored: it may be of any length, and tell something
 * of
 * the client.
 * @param principal the owner of the idempotency key; a NUL, which no idempotency key has, separates the two
 */
export function reservationKey(principal: string, idempotencyKey: string): string {
  return sha256(`${idempotencyKey}\0${principal}`);
}

/** The reservation for a stream itself. No body has this fingerprint. */
export const STREAM: Omit<Reservation, 'key' | 'reservedAt'> = { fingerprint: 'stream', id: NO_ID };

/** The key of the reservation for one line of a stream. */
export function lineKey(streamKey: string, line: number): string {
  return `${streamKey}/${line}`;
}

/** No record has more values. */
const MAX_VALUES = 5_000;

/**
 * Equal for two bodies that are the same value, however they are written. In a body that is larger than any record the
 * order of members counts: the body is refused anyway, and should cost little.
 */
export function fingerprintOf(body: unknown): string {
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
