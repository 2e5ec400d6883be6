import {
  type IdempotentRequest,
  idempotentRequest,
  reservationKey,
} from '../../../../application/records/idempotency.js';
import type { Context } from '../context.js';
import { HttpError, parameterIssue } from '../response/http-error.js';

const HEADER = 'Idempotency-Key';
const NAME = 'idempotency-key';
export const MAX_KEY_LENGTH = 255;
const PRINTABLE = new RegExp(`^[\\x20-\\x7e]{1,${MAX_KEY_LENGTH}}$`);
/** As {@link PRINTABLE}, for clients: white space at the ends of a header is not part of it (RFC 9110 section 5.5). */
export const KEY_PATTERN = '^[!-~]([ -~]*[!-~])?$';

/**
 * Leaves the key in the state of the request.
 * @throws HttpError `invalid_idempotency_key`, also if the header is sent twice, because either could be meant
 */
export function readIdempotencyKey(ctx: Context): void {
  ctx.state.idempotencyKey = idempotencyKey(ctx);
}

/** Identifies the record that this body asks for. Undefined without a key. */
export function idempotencyOf(ctx: Context, body: unknown): IdempotentRequest | undefined {
  const key = requestKey(ctx);
  return key === undefined ? undefined : idempotentRequest({ key, body, storesFields: true });
}

/** The name under which this request is reserved. Undefined without a key. */
export function requestKey(ctx: Context): string | undefined {
  const { principal, idempotencyKey: key } = ctx.state;
  if (key === undefined) return undefined;
  if (!principal) throw new Error('A key belongs to a principal, and nobody was identified.');
  return reservationKey(principal.id, key);
}

function idempotencyKey(ctx: Context): string | undefined {
  if (ctx.headers[NAME] === undefined) return undefined;
  const [key = '', second] = ctx.req.headersDistinct[NAME] ?? [];
  if (second === undefined && PRINTABLE.test(key)) return key;
  // Two programs could read such a message differently, so nothing is read behind it.
  if (second !== undefined) ctx.set('Connection', 'close');
  const message = `${HEADER} is to be 1 to ${MAX_KEY_LENGTH} printable ASCII characters, once.`;
  throw new HttpError('invalid_idempotency_key', message, [
    parameterIssue('header', HEADER, 'invalid_format', message),
  ]);
}
