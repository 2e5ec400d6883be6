import { SystemClock } from '#src/adapters/outbound/system/clock.js';
import type { Backoff, Clock, Timer } from '#src/application/ports/clock.js';
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

/** A timer that a test moves. */
export class FakeTimer implements Timer {
  private now = 0;
  private readonly plans = new Set<{ readonly at: number; readonly call: () => void }>();

  /** How many calls are planned. */
  get planned(): number {
    return this.plans.size;
  }

  after(ms: number, call: () => void): () => void {
    const plan = { at: this.now + ms, call };
    this.plans.add(plan);
    return () => void this.plans.delete(plan);
  }

  /** Makes the planned calls in their order, and lets what they cause run after each. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    for (let next = this.nextUntil(end); next; next = this.nextUntil(end)) {
      this.now = next.at;
      this.plans.delete(next);
      next.call();
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    this.now = end;
  }

  private nextUntil(end: number) {
    return [...this.plans].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  }
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
