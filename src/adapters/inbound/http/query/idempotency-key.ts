import {
  type IdempotentRequest,
  idempotentRequest,
  reservationKey,
} from '../../../../application/records/write-conditions.js';
import type { Context } from '../core/context.js';
import { HttpError, parameterIssue } from '../core/http-error.js';

const HEADER = 'Idempotency-Key';
const NAME = 'idempotency-key';
export const MAX_KEY_LENGTH = 255;
const PRINTABLE = new RegExp(`^[\\x20-\\x7e]{1,${MAX_KEY_LENGTH}}$`);
/**
 * The pattern for clients. Unlike {@link PRINTABLE}, it has no spaces at the ends, which HTTP strips (RFC 9110 section
 * 5.5).
 */
export const KEY_PATTERN = '^[!-~]([ -~]*[!-~])?$';

/**
 * Reads the key into the state of the request.
 * @throws HttpError `invalid_idempotency_key`, also if the header is repeated
 */
export function readIdempotencyKey(ctx: Context): void {
  ctx.state.idempotencyKey = idempotencyKey(ctx);
}

/** Identifies a request that creates one record; undefined without a key. */
export function idempotencyOf(ctx: Context, body: unknown): IdempotentRequest | undefined {
  const key = requestKey(ctx);
  return key === undefined ? undefined : idempotentRequest({ key, body, storesFields: true });
}

/** The key under which the request is reserved; undefined without an `Idempotency-Key`. */
export function requestKey(ctx: Context): string | undefined {
  const { principal, idempotencyKey: key } = ctx.state;
  if (key === undefined) return undefined;
  if (!principal) throw new Error('An idempotency key needs an authenticated principal.');
  return reservationKey(principal.id, key);
}

function idempotencyKey(ctx: Context): string | undefined {
  if (ctx.headers[NAME] === undefined) return undefined;
  const [key = '', second] = ctx.req.headersDistinct[NAME] ?? [];
  if (second === undefined && PRINTABLE.test(key)) return key;
  // Two programs could read such a message differently, so the connection is closed.
  if (second !== undefined) ctx.set('Connection', 'close');
  const message = `${HEADER} must be 1 to ${MAX_KEY_LENGTH} printable ASCII characters, once.`;
  throw new HttpError('invalid_idempotency_key', message, [
    parameterIssue('header', HEADER, 'invalid_format', message),
  ]);
}
