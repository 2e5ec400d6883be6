/** A signal stopped the command, in good order, before it was done. The message is for a person. */
export class Interrupted extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}

/** By signal, what a shell calls the end of a process by it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Notes the first SIGINT or SIGTERM instead of ending the process by it. Later ones change nothing: under npm a Ctrl-C
 * arrives twice.
 */
export class Interruption {
  /** Of the signal that came. */
  exitCode: number | undefined;

  private readonly note = (signal: NodeJS.Signals): void => {
    this.exitCode ??= EXIT_CODES[signal as keyof typeof EXIT_CODES];
  };

  constructor() {
    for (const signal of Object.keys(EXIT_CODES)) process.on(signal, this.note);
  }

  /** From now on signals do what they always did. */
  end(): void {
    for (const signal of Object.keys(EXIT_CODES)) process.off(signal, this.note);
  }
}
