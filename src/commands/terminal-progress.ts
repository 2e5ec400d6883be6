/** Shown so often at the most. */
const INTERVAL_MS = 100;
const CLEAR_LINE = '\r\u001b[2K';

/** One line on standard error that is written over; nothing where that is no terminal. */
export class TerminalProgress {
  private shownAt = 0;
  private isShown = false;

  show(line: string): void {
    if (!process.stderr.isTTY || performance.now() - this.shownAt < INTERVAL_MS) return;
    this.shownAt = performance.now();
    this.isShown = true;
    process.stderr.write(CLEAR_LINE + line);
  }

  /** What is shown next is shown at once. */
  clear(): void {
    if (this.isShown) process.stderr.write(CLEAR_LINE);
    this.isShown = false;
    this.shownAt = 0;
  }
}
