/** Waits between two tries of a write that lost a race, longer each time and by chance, so that racers part. */
export interface Backoff {
  /** @param attempt how many tries were lost so far, from 1 */
  pause(attempt: number): Promise<void>;
}
