import { EXIT_CODES } from '../../../shared/program.js';
import { escapeControls } from '../../../shared/shown-text.js';

/** The output and the environment variables of a command. Tests replace them. */
export interface Io {
  readonly stdout: Output & {
    /**
     * Writes what is shown only once.
     * @throws OutputError if the system does not take it
     */
    deliver(text: string): Promise<void>;
  };
  readonly stderr: Output;
  /** Absent: the environment variables of the process. */
  readonly environment?: NodeJS.ProcessEnv;
}

interface Output {
  readonly isTTY?: boolean;
  /** The width of a terminal. */
  readonly columns?: number;
  write(text: string): unknown;
}

/** Standard output cannot be written. */
export class OutputError extends Error {
  readonly exitCode: number;

  constructor({ code, message }: NodeJS.ErrnoException) {
    super(`standard output: ${message}`);
    this.exitCode = code === 'EPIPE' ? EXIT_CODES.brokenPipe : EXIT_CODES.outputError;
  }
}

/** Whether a caller of `deliver` got the error of standard output, and ends the command when it has acted on it. */
let isErrorDelivered = false;

/** One listener, however much is written. Without any, the event of an error would end the process as a defect. */
function listenForErrors(): void {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', exitOnOutputError);
}

export const PROCESS_IO: Io = {
  stdout: {
    get isTTY() {
      return process.stdout.isTTY;
    },
    write: (text) => {
      listenForErrors();
      process.stdout.write(text);
    },
    deliver: (text) =>
      new Promise((resolve, reject) => {
        listenForErrors();
        process.stdout.write(text, (error) => {
          if (!error) return resolve();
          isErrorDelivered = true;
          reject(new OutputError(error));
        });
      }),
  },
  stderr: {
    get isTTY() {
      return process.stderr.isTTY;
    },
    get columns() {
      return process.stderr.columns;
    },
    write: (text) => {
      // Nobody reads the messages any more, as with `2>&1 | head`. The work and its exit code stay.
      if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {});
      process.stderr.write(text);
    },
  },
};

/** Ends the process because its output has no reader any more: `head`, for example, closes the pipe early. */
function exitOnOutputError(error: NodeJS.ErrnoException): void {
  // The callback of a write comes before the event.
  if (isErrorDelivered) return;
  const { message, exitCode } = new OutputError(error);
  if (exitCode === EXIT_CODES.outputError) process.stderr.write(`${message}\n`);
  process.exit(exitCode);
}

/** Returns an object as JSON in one line. Its texts come from anywhere, and must not control a terminal. */
export function terminalJson(value: object): string {
  return escapeControls(JSON.stringify(value));
}

/** Writes one object as a line of JSON. */
export function writeJson(io: Io, value: object): void {
  io.stdout.write(`${terminalJson(value)}\n`);
}
