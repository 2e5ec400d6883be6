import { setTimeout as sleep } from 'node:timers/promises';
import type { Journal } from '../application/ports/journal.js';
import type { Retention } from '../application/retention.js';

const FIRST_MS = 60_000;
const EVERY_MS = 10 * 60_000;

/** Has what is too old removed every ten minutes, once at a time. Keeps no process alive. */
export class Sweeping {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    private readonly retention: Pick<Retention, 'sweep'>,
    private readonly journal: Journal,
    private readonly pauses = { firstMs: FIRST_MS, everyMs: EVERY_MS },
  ) {}

  /** The store has to be open, and to stay so until this is stopped. */
  start(): void {
    this.running ??= this.run();
  }

  /** Resolves when nothing is swept any more; nothing is started after it. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { firstMs, everyMs } = this.pauses;
    for (let ms = firstMs; await this.paused(ms); ms = everyMs) await this.sweep();
  }

  /** @returns false where it is over */
  private async paused(ms: number): Promise<boolean> {
    const { signal } = this.stopping;
    await sleep(ms, undefined, { ref: false, signal }).catch(() => undefined);
    return !signal.aborted;
  }

  private async sweep(): Promise<void> {
    try {
      await this.retention.sweep(() => this.stopping.signal.aborted);
    } catch (error) {
      this.journal.warn('what is too old could not be removed; it is tried again later', { error });
    }
  }
}
