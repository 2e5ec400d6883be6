import { EXIT_CODES } from '../../../shared/program.js';
import type { Io } from './io.js';

/** A signal stopped the command cleanly before it was done. The message is for a person. */
export class Interrupted extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}

const OF_SIGNAL = { SIGINT: EXIT_CODES.interrupted, SIGTERM: EXIT_CODES.terminated } as const;

/** Under npm, one Ctrl-C reaches the process twice within this time: directly, and through npm. */
const SAME_SIGNAL_MS = 250;

const STEP_RUNS = 'Interrupted while a step was running. Nothing is half done: run the same command again.\n';

/** How long a command may still wait, for a store that does not respond for example, after a signal arrived. */
const PATIENCE_MS = 1_000;

/**
 * Records the first SIGINT or SIGTERM instead of ending the process, so that the command can stop between two steps. A
 * second one, and a step that does not end in time, ends the process; nothing is half done even then.
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

  /** @throws Interrupted with the message, if a signal arrived */
  throwIfInterrupted(message: string): void {
    if (this.exitCode !== undefined) throw new Interrupted(message, this.exitCode);
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
