/** Pauses between two attempts of a write that lost a race. Pauses are random and grow, so that rivals separate. */
export interface Backoff {
  /** @param attempt the number of attempts that were lost so far, from 1 */
  pause(attempt: number): Promise<void>;
}
