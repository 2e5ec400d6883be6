import type { ChangePlace } from '../../../../application/changes/change-reader.js';
import { sealed, shortHash, unsealed } from './cursor.js';

/** No list has this name, so that no cursor of a list is one of changes. */
const KIND = 'changes';

/** A place in the changes of a list. Opaque to clients. */
export interface ChangeCursor {
  /** The name of the list. */
  readonly list: string;
  /** The fields of each entry. Absent: the default view. */
  readonly view?: string | undefined;
  readonly place: ChangePlace;
}

/** Encodes a cursor with a checksum, like the cursor of a list. */
export function encodeChangeCursor({ list, view, place }: ChangeCursor): string {
  return sealed(KIND, [list, viewKey(view), place.at, place.position]);
}

/** @returns undefined if the service did not issue the text as a cursor of changes */
export function decodeChangeCursor(text: string): DecodedCursor | undefined {
  const [list, view, at, position] = unsealed(text) ?? [];
  if (typeof list !== 'string' || typeof view !== 'string') return undefined;
  if (!Number.isSafeInteger(at) || typeof position !== 'string') return undefined;
  if (sealed(KIND, [list, view, at, position]) !== text) return undefined;
  return {
    place: { at: at as number, position },
    isOf: (one) => one.list === list && viewKey(one.view) === view,
  };
}

export interface DecodedCursor {
  readonly place: ChangePlace;
  /** Whether the cursor belongs to this list and this view. */
  isOf(other: Omit<ChangeCursor, 'place'>): boolean;
}

function viewKey(view: string | undefined): string {
  return view === undefined ? '' : shortHash(view);
}
