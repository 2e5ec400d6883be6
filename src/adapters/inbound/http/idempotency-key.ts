import { type Once, onceByBody, reservationKey } from '../../../application/records/idempotency.js';
import { CatalogueError } from '../../../domain/errors.js';
import type { Context } from './context.js';
import { parameterFault } from './faults.js';

const HEADER = 'Idempotency-Key';
const NAME = 'idempotency-key';
export const MAX_KEY_LENGTH = 255;
const PRINTABLE = new RegExp(`^[\\x20-\\x7e]{1,${MAX_KEY_LENGTH}}$`);
/** As {@link PRINTABLE}, for clients: white space at the ends of a header is no part of it (RFC 9110 section 5.5). */
export const KEY_PATTERN = '^[!-~]([ -~]*[!-~])?$';

/**
 * Leaves the key in the state of the request.
 * @throws CatalogueError `invalid_idempotency_key`, also where it is sent twice: either could be meant
 */
export function readIdempotencyKey(ctx: Context): void {
  ctx.state.idempotencyKey = idempotencyKey(ctx);
}

/** How the record that this body asks for is told from others; nothing where no key was sent. */
export function onceFor(ctx: Context, body: unknown): Once | undefined {
  const key = requestKey(ctx);
  return key === undefined ? undefined : onceByBody({ key, body, showsFields: true });
}

/** The name under which this request is reserved, if it says that it is to be done once. */
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
  // Two programs could read such a message in two ways, so nothing is read behind it.
  if (second !== undefined) ctx.set('Connection', 'close');
  const message = `${HEADER} is to be 1 to ${MAX_KEY_LENGTH} printable ASCII characters, once.`;
  throw new CatalogueError('invalid_idempotency_key', message, [
    parameterFault('header', HEADER, 'invalid_format', message),
  ]);
}
