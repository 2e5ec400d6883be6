import { type AppError, unavailable } from '../../domain/errors.js';
import { pause, setTimeoutAfterIo } from '../../shared/promises.js';

/** The time between two probes during an outage. */
const PROBE_PAUSE_MS = 100;

export interface CircuitBreakerOptions {
  /** How long the server is silent before a failed call means that it is down. */
  readonly silenceMs: number;
  /** Resolves as soon as the store responds; rejects within the time-out of an operation. */
  readonly probe: () => Promise<unknown>;
  /** Returns the error of a failed call as callers get it. */
  readonly translate: (error: unknown) => unknown;
  /** What the error of a failed call says about the server: a response of any kind, none, or that it is down. */
  readonly signOf: (error: unknown) => 'response' | 'silence' | 'down';
  /** In milliseconds, from any point of time on. */
  readonly now: () => number;
  /** Called when an outage begins. */
  readonly onBegin?: () => void;
}

/**
 * Knows whether a server is down, so that callers need not find out by a time-out each. It is down if a call
 * says so, or if a heartbeat failed, or calls did for {@link CircuitBreakerOptions.silenceMs}, while it responded to nothing
 * else. So one slow query among others, or one broken connection, is no outage. During an outage one probe
 * at a time looks for its end.
 */
export class CircuitBreaker {
  private heardAt: number;
  /** When the first call began that came after the last response. */
  private askedAt: number | undefined;
  private cause: unknown;
  private isOn = false;
  private isClosed = false;
  /** Counts the outages, so that the probes of an earlier one end. */
  private round = 0;
  private readonly callers = new Set<(error: unknown) => void>();

  constructor(private readonly options: CircuitBreakerOptions) {
    this.heardAt = options.now();
  }

  /** @throws AppError `unavailable` during an outage */
  check(): void {
    if (this.isOn) throw unreachable(this.cause);
  }

  /**
   * Waits for a call that has begun, at most `waitMs` and only until an outage begins. Its end shows whether the server
   * responds.
   * @param reason says in a sentence that the time is over
   * @throws AppError `unavailable`; the translated error of the call
   */
  wait<Result>(waitMs: number, call: Promise<Result>, reason = 'The store did not respond in time.'): Promise<Result> {
    this.askedAt ??= this.options.now();
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.callers.delete(giveUp);
      };
      const giveUp = (error: unknown) => {
        end();
        reject(error);
      };
      const timer = setTimeoutAfterIo(waitMs, () => {
        // The response was read after the time was over, and before this.
        if (!this.callers.has(giveUp)) return;
        const late = unavailable(reason);
        giveUp(late);
        this.missed(late, this.askedAt);
      });
      this.callers.add(giveUp);
      call.then(
        (result) => {
          end();
          this.responded();
          resolve(result);
        },
        (error: unknown) => {
          end();
          reject(this.options.translate(error));
          this.failed(error);
        },
      );
    });
  }

  responded(): void {
    this.heardAt = this.options.now();
    this.askedAt = undefined;
  }

  /**
   * A response is missing.
   * @param since when somebody asked for one; default: somebody asks all the time
   */
  missed(cause: unknown, since = this.heardAt): void {
    if (this.options.now() - since >= this.options.silenceMs) this.begin(cause);
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

  private failed(error: unknown): void {
    const sign = this.options.signOf(error);
    if (sign === 'down') this.begin(error);
    else if (sign === 'response') this.responded();
    else this.missed(error, this.askedAt);
  }

  private begin(cause: unknown): void {
    if (this.isOn || this.isClosed) return;
    this.isOn = true;
    this.cause = cause;
    this.options.onBegin?.();
    for (const giveUp of this.callers) giveUp(unreachable(cause));
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
      await pause(PROBE_PAUSE_MS);
    }
  }
}

/** The store does not respond: the outcome of what was asked of it is unknown. */
export function unreachable(cause: unknown): AppError {
  return unavailable('The store cannot be reached right now.', cause);
}
