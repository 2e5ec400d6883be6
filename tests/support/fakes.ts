import { SystemClock } from '#src/adapters/outbound/system/clock.js';
import type { Backoff } from '#src/application/ports/backoff.js';
import type { Clock } from '#src/application/ports/clock.js';
import type { Logger } from '#src/application/ports/logger.js';

/** A clock that a test moves. Wall time and elapsed time move independently. */
export class FakeClock implements Clock {
  constructor(
    public time = Date.UTC(2026, 0, 1),
    public running = 0,
  ) {}

  now = () => this.time;
  elapsed = () => this.running;
}

/** The clock of the system, which a test puts forward. */
export class AdvancedClock extends SystemClock {
  private aheadMs = 0;

  override now = () => Date.now() + this.aheadMs;
  override elapsed = () => performance.now() + this.aheadMs;

  pass(ms: number): void {
    this.aheadMs += ms;
  }
}

/** A clock that moves by the next step at each reading. The steps repeat. */
export class UnevenClock extends FakeClock {
  private readings = 0;

  constructor(private readonly steps: readonly number[]) {
    super();
  }

  override elapsed = () => {
    this.running += this.steps[this.readings++ % this.steps.length] ?? 0;
    return this.running;
  };
}

export class CountingBackoff implements Backoff {
  pauses = 0;

  async pause(): Promise<void> {
    this.pauses++;
  }
}

export class RecordingLogger implements Logger {
  readonly events: string[] = [];

  info = (event: string) => void this.events.push(event);
  warn = (event: string) => void this.events.push(event);
  error = (event: string) => void this.events.push(event);
  end = () => void this.events.push('request');
}
