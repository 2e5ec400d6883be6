import { EXIT_CODES } from '../../../shared/program.js';
import { CommandError, type Io } from './io.js';

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

const OF_SIGNAL = { SIGINT: EXIT_CODES.interrupted, SIGTERM: EXIT_CODES.terminated } as const;

/** Under npm, one Ctrl-C reaches the process twice within this time: directly, and through npm. */
const SAME_SIGNAL_MS = 250;

const STEP_RUNS = 'Interrupted while a step was running. Run the same command again.\n';

/** How long a command may still wait, for a store that does not respond for example, after a signal arrived. */
const PATIENCE_MS = 1_000;

/**
 * Records the first SIGINT or SIGTERM instead of ending the process, so that the command can stop between two steps. A
 * second one, and a step that does not end in time, ends the process.
 */
export class SignalListener {
  /** The exit code of the signal that arrived. */
  exitCode: number | undefined;
  private arrivedAt = 0;
  private isListening = false;

  private readonly record = (signal: NodeJS.Signals): void => {
    const exitCode = OF_SIGNAL[signal as keyof typeof OF_SIGNAL];
    if (this.exitCode === undefined) this.expect(exitCode);
    else if (performance.now() - this.arrivedAt > SAME_SIGNAL_MS) process.exit(exitCode);
    this.exitCode ??= exitCode;
  };

  constructor(private readonly stderr: Io['stderr']) {}

  /** Until it is called, a signal has its default effect: it ends the process at once. */
  listen(): void {
    if (this.isListening) return;
    this.isListening = true;
    for (const signal of Object.keys(OF_SIGNAL)) process.on(signal, this.record);
  }

  /** @throws CommandError with the message, if a signal arrived */
  throwIfInterrupted(message: string): void {
    if (this.exitCode !== undefined) throw new CommandError(message, this.exitCode);
  }

  /** Restores the default effect of the signals. */
  close(): void {
    for (const signal of Object.keys(OF_SIGNAL)) process.off(signal, this.record);
  }

  private expect(exitCode: number): void {
    this.arrivedAt = performance.now();
    // Stays after `close`: a check of the database that was given up still runs in its thread, and keeps the process.
    setTimeout(() => {
      if (process.exitCode === undefined) this.stderr.write(STEP_RUNS);
      process.exit(exitCode);
    }, PATIENCE_MS).unref();
  }
}

/** Runs work that takes long: it shows its progress, and a signal stops it between two steps. */
export async function withProgress<Result>(
  io: Io,
  work: (progress: Progress, signals: SignalListener) => Promise<Result>,
): Promise<Result> {
  const signals = new SignalListener(io.stderr);
  const progress = new Progress(io.stderr);
  try {
    return await work(progress, signals);
  } finally {
    signals.close();
    progress.clear();
  }
}
