import { setTimeout as sleep } from 'node:timers/promises';
import { MongoServerSelectionError } from 'mongodb';
import { isResponse, unreachable, unwrapped } from './errors.js';

/** The time between two probes during an outage. */
const PROBE_PAUSE_MS = 100;

interface OutageOptions {
  /** The store is down if it fails a call after it has been silent for so long. */
  readonly silenceMs: number;
  /** Resolves as soon as the store responds; rejects within the time-out of an operation. */
  readonly probe: () => Promise<unknown>;
  /** In milliseconds, from any point of time on. */
  readonly now?: () => number;
}

/**
 * Knows whether the store is down, so that callers need not find out by a time-out each. It is down if the driver found
 * no primary for its whole `serverSelectionTimeoutMS`, or if a call or a heartbeat failed without a response while the
 * store responded to nothing else for {@link OutageOptions.silenceMs}. So one slow query, or one broken connection, is
 * no outage. During an outage one probe at a time looks for its end.
 */
export class Outage {
  private heardAt: number;
  private cause: unknown;
  private isOn = false;
  private isClosed = false;
  /** Counts the outages, so that the probes of an earlier one end. */
  private round = 0;
  private readonly callers = new Set<(error: unknown) => void>();
  private readonly now: () => number;

  constructor(private readonly options: OutageOptions) {
    this.now = options.now ?? (() => performance.now());
    this.heardAt = this.now();
  }

  /** @throws AppError `unavailable` during an outage */
  check(): void {
    if (this.isOn) throw unreachable(this.cause);
  }

  /** Registers a caller that waits for the store. @param reject is called at the beginning of an outage */
  join(reject: (error: unknown) => void): void {
    this.callers.add(reject);
  }

  leave(reject: (error: unknown) => void): void {
    this.callers.delete(reject);
  }

  /** The store has responded. */
  responded(): void {
    this.heardAt = this.now();
  }

  /** A call has failed, maybe without a response. */
  failed(error: unknown): void {
    if (unwrapped(error) instanceof MongoServerSelectionError) this.begin(error);
    else if (isResponse(error)) this.responded();
    else this.missed(error);
  }

  /** A response is missing. */
  missed(cause: unknown): void {
    if (this.now() - this.heardAt >= this.options.silenceMs) this.begin(cause);
  }

  end(): void {
    this.round++;
    this.isOn = false;
    this.responded();
  }

  /** No outage begins any more. */
  close(): void {
    this.end();
    this.isClosed = true;
  }

  private begin(cause: unknown): void {
    if (this.isOn || this.isClosed) return;
    this.isOn = true;
    this.cause = cause;
    for (const reject of this.callers) reject(unreachable(cause));
    this.callers.clear();
    void this.probe();
  }

  private async probe(): Promise<void> {
    const round = ++this.round;
    while (round === this.round) {
      const isBack = await this.options.probe().then(
        () => true,
        () => false,
      );
      if (round !== this.round) return;
      if (isBack) return this.end();
      await sleep(PROBE_PAUSE_MS, undefined, { ref: false });
    }
  }
}
