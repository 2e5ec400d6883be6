import { type AppError, unavailable } from '../../domain/errors.js';
import type { FeedPosition } from '../ports/change-feed.js';

/** What a store that numbers its changes, from 1 on, knows of a feed. */
export interface FeedRange {
  readonly epoch: string;
  /** Changes up to this one may be missing. */
  readonly floor: number;
  readonly newest: number;
}

/** @param epoch of letters and digits */
export function positionBehind(change: number, epoch: string): FeedPosition {
  return `${epoch}.${change}`;
}

/**
 * @param range absent: the feed is off
 * @returns the number of the change before the position; undefined if changes behind it may be missing
 */
export function changeAt(position: FeedPosition, range: FeedRange | undefined): number | undefined {
  const [, epoch, digits] = /^(\w+)\.(\d{1,16})$/.exec(position) ?? [];
  const change = Number(digits);
  if (!range || epoch !== range.epoch) return undefined;
  return range.floor <= change && change <= range.newest ? change : undefined;
}

export function feedIsOff(): AppError {
  return unavailable('The changes are not written: a service with CHANGES=off uses the store.');
}
