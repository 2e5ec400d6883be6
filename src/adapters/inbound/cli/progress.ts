import type { Io } from './io.js';

/** The least time between two updates of a line on a terminal, and between two lines elsewhere. */
const TERMINAL_MS = 100;
const ELSEWHERE_MS = 10_000;
/** A rate over a shorter time says little. */
const MEASURED_MS = 500;
const CLEAR_LINE = '\r\u001b[2K';

/**
 * The progress of long work on standard error: on a terminal a line that overwrites itself, elsewhere a line every ten
 * seconds. It has the rate and, if the total is known, the time left.
 */
export class Progress {
  private shownAt: number;
  private isShown = false;
  private step = { name: '', startedAt: 0, first: 0 };

  constructor(
    private readonly stderr: Io['stderr'],
    private readonly now: () => number = () => performance.now(),
  ) {
    // On a terminal, the first line comes immediately.
    this.shownAt = stderr.isTTY ? Number.NEGATIVE_INFINITY : now();
  }

  /**
   * @param name what is done now; another name begins a new measurement
   * @param total if it is known; `done` and `total` are in units
   */
  show(name: string, done: number, total?: number, unit = ''): void {
    const now = this.now();
    if (name !== this.step.name) this.step = { name, startedAt: now, first: done };
    if (now - this.shownAt < (this.stderr.isTTY ? TERMINAL_MS : ELSEWHERE_MS)) return;
    this.shownAt = now;
    const parts = this.parts(now, done, total, unit);
    if (this.stderr.isTTY) {
      this.isShown = true;
      this.stderr.write(CLEAR_LINE + fitting(parts, this.stderr.columns));
    } else this.stderr.write(`${parts.join(', ')}\n`);
  }

  /** Removes the line of a terminal. The next one is shown immediately. */
  clear(): void {
    if (this.isShown) this.stderr.write(CLEAR_LINE);
    this.isShown = false;
    if (this.stderr.isTTY) this.shownAt = Number.NEGATIVE_INFINITY;
  }

  private parts(now: number, done: number, total: number | undefined, unit: string): string[] {
    const { name, startedAt, first } = this.step;
    const elapsedMs = now - startedAt;
    const perSecond = elapsedMs < MEASURED_MS ? 0 : ((done - first) * 1_000) / elapsedMs;
    const part = total ? ` of ${number(total)}${unit} (${Math.floor((100 * done) / total)} %)` : unit;
    return [
      `${name}: ${number(done)}${part}`,
      ...(perSecond > 0 ? [`${number(perSecond)}${unit}/s`] : []),
      ...(perSecond > 0 && total ? [`${duration(Math.max(0, total - done) / perSecond)} left`] : []),
    ];
  }
}

/** The parts that fit on one line: a terminal breaks a longer one, and only its last line could be overwritten. */
function fitting(parts: readonly string[], columns = Number.POSITIVE_INFINITY): string {
  const count = parts.findLastIndex((_, i) => parts.slice(0, i + 1).join(', ').length < columns) + 1;
  return count > 0 ? parts.slice(0, count).join(', ') : (parts[0] ?? '').slice(0, columns - 1);
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60)];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}
