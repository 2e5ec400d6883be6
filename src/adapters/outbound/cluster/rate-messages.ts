import type { RateState } from '../../../application/ports/rate-limiter.js';

/** This end of a line between two processes: what is sent is received whole and in order, as JSON carries it. */
export interface Line {
  send(message: object): void;
  receive(listener: (message: unknown) => void): void;
}

/** The policy's name, what to do, and the caller. */
export type RateQuestion = readonly [policy: string, verb: 'consume' | 'peek', caller: string];

/** All that a worker's requests asked in one turn of its event loop. */
export interface RateQuestions {
  readonly batch: number;
  readonly questions: readonly RateQuestion[];
}

/** The answers to one batch, in the order of its questions; null where the policy is not known. */
export interface RateAnswers {
  readonly batch: number;
  readonly states: readonly (RateState | null)[];
}

export function isRateQuestions(message: unknown): message is RateQuestions {
  return isObject(message) && 'batch' in message && 'questions' in message;
}

export function isRateAnswers(message: unknown): message is RateAnswers {
  return isObject(message) && 'batch' in message && 'states' in message;
}

function isObject(message: unknown): message is object {
  return typeof message === 'object' && message !== null;
}
