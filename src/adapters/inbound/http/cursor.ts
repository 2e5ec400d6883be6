import { createHash } from 'node:crypto';
import type { ListPlace } from '../../../application/list-query.js';
import { CatalogueError } from '../../../domain/errors.js';
import { MAX_ID } from '../../../domain/record.js';
import { invalid } from './query.js';

const CHECK_LENGTH = 8;
const PLACE = /^(after|before):([1-9]\d{0,15})$/;

/**
 * A place in a list, for clients to hand back unread. The check shows a cursor that was cut, changed or made for
 * another list; it is no secret, since a place gives access to nothing.
 * @param list names the list that the place is in
 */
export function encodeCursor(list: string, place: ListPlace): string {
  const text = `${place.side}:${place.id}`;
  return Buffer.from(check(list, text) + text).toString('base64url');
}

/** @throws CatalogueError `invalid_cursor` */
export function decodeCursor(list: string, cursor: string): ListPlace {
  const decoded = Buffer.from(cursor, 'base64url');
  const text = decoded.toString('latin1').slice(CHECK_LENGTH);
  const [, side, digits] = PLACE.exec(text) ?? [];
  const id = Number(digits);
  const isGenuine =
    decoded.toString('base64url') === cursor && decoded.toString('latin1') === check(list, text) + text;
  if (!isGenuine || (side !== 'after' && side !== 'before') || id > MAX_ID) {
    const fault = invalid('cursor', 'invalid_format', 'is not one that this list gave');
    throw new CatalogueError('invalid_cursor', fault.message, [fault]);
  }
  return { side, id };
}

function check(list: string, text: string): string {
  return createHash('sha256').update(`${list}\n${text}`).digest('base64url').slice(0, CHECK_LENGTH);
}
