/** A signal stopped the command cleanly before it was done. The message is for a person. */
export class Interrupted extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}

/** The exit code that a shell reports for a process that the signal ends. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Records the first SIGINT or SIGTERM instead of ending the process. Later ones change nothing: under npm one Ctrl-C
 * arrives twice.
 */
export class SignalListener {
  /** The exit code of the signal that arrived. */
  exitCode: number | undefined;

  private readonly record = (signal: NodeJS.Signals): void => {
    this.exitCode ??= EXIT_CODES[signal as keyof typeof EXIT_CODES];
  };

  constructor() {
    for (const signal of Object.keys(EXIT_CODES)) process.on(signal, this.record);
  }

  /** Restores the default effect of the signals. */
  close(): void {
    for (const signal of Object.keys(EXIT_CODES)) process.off(signal, this.record);
  }
}
