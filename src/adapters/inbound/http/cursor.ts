import { createHash } from 'node:crypto';
import type { ListPlace } from '../../../application/list-query.js';
import { MAX_ID } from '../../../domain/record.js';

const CHECK_LENGTH = 8;
const PLACE = /^(after|before):(0|[1-9]\d{0,15})$/;

/**
 * A place in a list, for clients to hand back unread. The check shows a cursor that was cut, changed or made for
 * another list; it is no secret, since a place gives access to nothing.
 * @param list names the list that the place is in
 */
export function encodeCursor(list: string, place: ListPlace): string {
  const text = `${place.side}:${place.values[0]}`;
  return Buffer.from(check(list, text) + text).toString('base64url');
}

/** @returns undefined where this list never gave such a cursor */
export function decodeCursor(list: string, cursor: string): ListPlace | undefined {
  const decoded = Buffer.from(cursor, 'base64url');
  const text = decoded.toString('latin1').slice(CHECK_LENGTH);
  const [, side, digits] = PLACE.exec(text) ?? [];
  const isGenuine =
    decoded.toString('base64url') === cursor && decoded.toString('latin1') === check(list, text) + text;
  if (!isGenuine || (side !== 'after' && side !== 'before') || Number(digits) > MAX_ID) return undefined;
  return { side, inclusive: false, values: [Number(digits)] };
}

function check(list: string, text: string): string {
  return createHash('sha256').update(`${list}\n${text}`).digest('base64url').slice(0, CHECK_LENGTH);
}
