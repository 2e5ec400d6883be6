import { afterReading } from './in-time.js';

export interface SlotLimits {
  readonly slots: number;
  readonly maxWaiting: number;
  readonly patienceMs: number;
}

/** Bounds how much is under way at once, how much waits for that, and how long. First come, first served. */
export class Slots {
  private readonly waiting = new Set<() => void>();
  private free: number;

  constructor(private readonly limits: SlotLimits) {
    this.free = limits.slots;
  }

  /** @returns whether there is a slot for the caller, who then has to give it back */
  take(): Promise<boolean> {
    if (this.free > 0) {
      this.free--;
      return Promise.resolve(true);
    }
    if (this.waiting.size >= this.limits.maxWaiting) return Promise.resolve(false);
    return this.wait();
  }

  giveBack(): void {
    const [first] = this.waiting;
    if (first) first();
    else this.free++;
  }

  private wait(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = afterReading(this.limits.patienceMs, () => {
        if (this.waiting.delete(admit)) resolve(false);
      });
      const admit = () => {
        this.waiting.delete(admit);
        clearTimeout(timer);
        resolve(true);
      };
      this.waiting.add(admit);
    });
  }
}
