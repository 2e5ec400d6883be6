import { type AppError, unavailable } from '../../domain/errors.js';
import type { MaybePromise } from '../../shared/promises.js';
import type { FeedPosition, FeedState } from '../ports/change-feed.js';
import type { Clock } from '../ports/clock.js';

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
  readonly lowWatermark: number;
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
  return epoch === range.epoch && range.lowWatermark <= change && change <= range.newest;
}

export function feedIsOff(): AppError {
  return unavailable('The changes are not written: a service with CHANGES=off uses the store.');
}

/** How long a process uses the generation that it has read, in milliseconds. A reset of the store takes as long. */
export const GENERATION_MS = 500;

/** The generation of the store, as this process knows it; see {@link FeedState.generation}. */
export class Generation {
  private last: { readonly at: number; value: MaybePromise<string | undefined> } | undefined;

  constructor(
    private readonly state: Pick<FeedState, 'generation'>,
    private readonly clock: Pick<Clock, 'elapsed'>,
  ) {}

  /**
   * Returns a generation that was read in the last {@link GENERATION_MS}, or is read now; undefined if the store has
   * none. Call it before a record is read: the tag of an older record must not have a newer generation.
   * @throws AppError `unavailable`
   */
  current(): MaybePromise<string | undefined> {
    const at = this.clock.elapsed();
    if (this.last && at - this.last.at < GENERATION_MS) return this.last.value;
    const read = { at, value: this.state.generation() as MaybePromise<string | undefined> };
    this.last = read;
    if (read.value instanceof Promise)
      read.value.then(
        (value) => {
          read.value = value;
        },
        () => {
          if (this.last === read) this.last = undefined;
        },
      );
    return read.value;
  }
}
