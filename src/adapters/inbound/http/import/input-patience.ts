import type { Clock, Timer } from '../../../../application/ports/clock.js';

/** How much of an unfinished record counts as progress. */
const PART_BYTES = 16 * 1024;
const PATIENCE_MS = 30_000;

const SYSTEM: Pick<Clock, 'elapsed'> & Timer = {
  elapsed: () => performance.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/** The two ways in which a stream is used: it waits for its client, or the service works for it. */
interface Stream {
  /** Ends the stream. */
  end(): void;
  /** Whether the service works for it: then nobody has to send a byte. */
  working(isWorking: boolean): void;
}

/**
 * How long a stream waits for its client: 30 seconds without a whole record and without 16 KiB of one. Only the time
 * counts in which the service waits; what is ignored, such as blank lines, is no progress.
 */
export class InputPatience {
  private waitedMs = 0;
  /** The bytes of the unfinished record that were there at the last progress. */
  private partBytes = 0;

  constructor(
    private readonly stream: Stream,
    private readonly timers = SYSTEM,
    private readonly limitMs = PATIENCE_MS,
  ) {}

  /** Passes on what the client sends, and counts the time in which it sends nothing. */
  async *over<Chunk>(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk, void, void> {
    const iterator = chunks[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.waited(iterator.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }

  recordArrived(): void {
    this.waitedMs = 0;
    this.partBytes = 0;
  }

  /** @param bytes those of the unfinished record */
  partArrived(bytes: number): void {
    if (bytes < this.partBytes) this.partBytes = 0;
    if (bytes - this.partBytes < PART_BYTES) return;
    this.waitedMs = 0;
    this.partBytes = bytes;
  }

  private async waited<Result>(arrival: Promise<Result>): Promise<Result> {
    const begin = this.timers.elapsed();
    const stop = this.timers.after(this.limitMs - this.waitedMs, () => this.stream.end());
    this.stream.working(false);
    try {
      return await arrival;
    } finally {
      stop();
      this.stream.working(true);
      this.waitedMs += this.timers.elapsed() - begin;
    }
  }
}
