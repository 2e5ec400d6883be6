/** A worker that lived so long was sound; its death says nothing about the next one's life. */
const SOUND_MS = 10_000;
const SHORTEST_MS = 250;
const LONGEST_MS = 30_000;

/** How long a dead worker's place stays empty: not at all, but longer and longer where one after the other dies soon. */
export class ReplacementPause {
  private next = 0;

  /** @returns milliseconds, 0 … 30,000 */
  after(livedMs: number): number {
    if (livedMs >= SOUND_MS) this.next = 0;
    const pause = this.next;
    this.next = Math.min(Math.max(pause * 2, SHORTEST_MS), LONGEST_MS);
    return pause;
  }
}
