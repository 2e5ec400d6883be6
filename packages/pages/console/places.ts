import { remember, remembered } from '../docs/tab-storage.js';
import { hashOfList } from './router.js';

/** How a person left the list of a resource. */
export interface Place {
  /** The list with its query, for links. */
  readonly hash: string;
  /** The ids of its page in their order. */
  readonly ids: readonly number[];
  /** The requests for the pages before and behind it. */
  readonly prev?: string | undefined;
  readonly next?: string | undefined;
  /** How far the table and the window were scrolled. */
  readonly scrolled?: readonly [table: number, page: number];
  /** The record that was opened last; undefined after the return. */
  readonly id?: number | undefined;
}

const NAME = 'console-places';

function places(): Readonly<Record<string, Place>> {
  return JSON.parse(remembered(NAME) ?? '{}');
}

/** The list of a resource as the tab showed it last. */
export function placeIn(resource: string): Place {
  return places()[resource] ?? { hash: hashOfList(resource), ids: [] };
}

export function keepPlace(resource: string, part: Partial<Place>): void {
  remember(NAME, JSON.stringify({ ...places(), [resource]: { ...placeIn(resource), ...part } }));
}

/** After signing out, nothing of the lists is left. */
export function forgetPlaces(): void {
  remember(NAME, undefined);
}
