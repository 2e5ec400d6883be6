import { EXIT_CODES } from '../../../shared/exit-codes.js';

/** The output and the environment variables of a command. Tests replace them. */
export interface Io {
  readonly stdout: Output;
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

export const PROCESS_IO: Io = {
  stdout: {
    get isTTY() {
      return process.stdout.isTTY;
    },
    write: (text) => {
      if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', exitOnOutputError);
      process.stdout.write(text);
    },
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
function exitOnOutputError({ code, message }: NodeJS.ErrnoException): never {
  if (code === 'EPIPE') process.exit(EXIT_CODES.brokenPipe);
  process.stderr.write(`standard output: ${message}\n`);
  process.exit(EXIT_CODES.outputError);
}

/** Writes one object as a line of JSON. */
export function writeJson(io: Io, value: object): void {
  io.stdout.write(`${JSON.stringify(value)}\n`);
}
