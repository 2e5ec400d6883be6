import { type AppError, unavailable } from '../../domain/errors.js';
import type { FeedPosition } from '../ports/change-feed.js';

/** A position in a store that numbers its changes from 1 on: behind the change of this number. */
export interface NumberedPosition {
  /** Of letters and digits. */
  readonly epoch: string;
  readonly change: number;
}

/** What such a store knows of a feed. */
export interface FeedRange {
  readonly epoch: string;
  /** Changes up to this one may be missing. */
  readonly floor: number;
  readonly newest: number;
}

export function writePosition({ epoch, change }: NumberedPosition): FeedPosition {
  return `${epoch}.${change}`;
}

/** @returns undefined if no such store wrote it */
export function readPosition(position: FeedPosition): NumberedPosition | undefined {
  const [, epoch = '', digits] = /^(\w+)\.(\d{1,16})$/.exec(position) ?? [];
  return digits === undefined ? undefined : { epoch, change: Number(digits) };
}

/** Whether no change behind the position is missing. */
export function isInRange({ epoch, change }: NumberedPosition, range: FeedRange): boolean {
  return epoch === range.epoch && range.floor <= change && change <= range.newest;
}

export function feedIsOff(): AppError {
  return unavailable('The changes are not written: a service with CHANGES=off uses the store.');
}
