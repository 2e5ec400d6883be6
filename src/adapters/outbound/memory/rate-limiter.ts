import type { Clock } from '../../../application/ports/clock.js';
import type { RateLimiter, RatePolicy, RateState } from '../../../application/ports/rate-limiter.js';

/** Of more callers in one generation, those that came first get a new window early. */
const MAX_WINDOWS = 250_000;

/** The current window of a caller. */
export interface Window {
  /** The requests so far. */
  count: number;
  readonly startedAt: number;
}

/**
 * Limits the callers of one process. A generation of windows begins every `windowSeconds`. The one before the last is
 * dropped as a whole, because all its windows have ended: no request pays for a sweep.
 */
export class MemoryRateLimiter implements RateLimiter {
  private recent = new Map<string, Window>();
  private earlier = new Map<string, Window>();
  private recentSince = 0;
  private readonly windowMs: number;

  constructor(
    readonly policy: RatePolicy,
    private readonly clock: Pick<Clock, 'elapsed'>,
    private readonly maxWindows = MAX_WINDOWS,
  ) {
    this.windowMs = policy.windowSeconds * 1_000;
  }

  consume(caller: string): RateState {
    const now = this.clock.elapsed();
    const window = this.window(caller, now);
    window.count++;
    return this.state(window, window.count <= this.policy.quota, now);
  }

  peek(caller: string): RateState {
    const now = this.clock.elapsed();
    const window = this.find(caller, now);
    if (window) return this.state(window, window.count < this.policy.quota, now);
    return { allowed: true, remaining: this.policy.quota, resetSeconds: this.policy.windowSeconds };
  }

  /** Returns the window of a caller, which begins if the caller has none. */
  window(caller: string, now = this.clock.elapsed()): Window {
    return this.find(caller, now) ?? this.open(caller, now);
  }

  /** Returns the window of a caller if it has begun. */
  currentWindow(caller: string): Window | undefined {
    return this.find(caller, this.clock.elapsed());
  }

  /** Milliseconds until the window ends. */
  msLeft({ startedAt }: Window): number {
    return Math.max(0, this.windowMs - (this.clock.elapsed() - startedAt));
  }

  private find(caller: string, now: number): Window | undefined {
    if (now - this.recentSince >= this.windowMs) this.beginGeneration(now);
    const window = this.recent.get(caller) ?? this.earlier.get(caller);
    return window && now - window.startedAt < this.windowMs ? window : undefined;
  }

  private open(caller: string, now: number): Window {
    if (this.recent.size >= this.maxWindows) this.beginGeneration(now);
    const window = { count: 0, startedAt: now };
    this.recent.set(caller, window);
    return window;
  }

  private beginGeneration(now: number): void {
    this.earlier = this.recent;
    this.recent = new Map();
    this.recentSince = now;
  }

  private state({ count, startedAt }: Window, allowed: boolean, now: number): RateState {
    const { quota, windowSeconds } = this.policy;
    const resetSeconds = windowSeconds - Math.floor((now - startedAt) / 1_000);
    return { allowed, remaining: Math.max(0, quota - count), resetSeconds };
  }
}
