import type { Io } from './io.js';

/** The least time between two updates. */
const INTERVAL_MS = 100;
const CLEAR_LINE = '\r\u001b[2K';

/** A progress line on standard error that overwrites itself. It is silent if standard error is not a terminal. */
export class TerminalProgress {
  private shownAt = 0;
  private isShown = false;

  constructor(private readonly stderr: Io['stderr']) {}

  show(line: string): void {
    if (!this.stderr.isTTY || performance.now() - this.shownAt < INTERVAL_MS) return;
    this.shownAt = performance.now();
    this.isShown = true;
    this.stderr.write(CLEAR_LINE + line);
  }

  /** Removes the line. The next one is shown immediately. */
  clear(): void {
    if (this.isShown) this.stderr.write(CLEAR_LINE);
    this.isShown = false;
    this.shownAt = 0;
  }
}
