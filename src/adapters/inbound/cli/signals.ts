import { EXIT_CODES } from '../../../shared/exit-codes.js';

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

/**
 * Records the first SIGINT or SIGTERM instead of ending the process, so that the command can stop between two steps. A
 * second one ends the process immediately; nothing is half done even then.
 */
export class SignalListener {
  /** The exit code of the signal that arrived. */
  exitCode: number | undefined;
  private arrivedAt = 0;

  private readonly record = (signal: NodeJS.Signals): void => {
    const exitCode = OF_SIGNAL[signal as keyof typeof OF_SIGNAL];
    if (this.exitCode === undefined) this.arrivedAt = performance.now();
    else if (performance.now() - this.arrivedAt > SAME_SIGNAL_MS) process.exit(exitCode);
    this.exitCode ??= exitCode;
  };

  constructor() {
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
}
