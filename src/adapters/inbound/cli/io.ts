import { EXIT_CODES } from '../../../shared/program.js';
import { escapeControls } from '../../../shared/shown-text.js';

/** The output and the environment variables of a command. Tests replace them. */
export interface Io {
  readonly stdout: Output & {
    /**
     * Writes what is shown only once.
     * @throws CommandError if the system does not take it
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

/** A command ends because of what is outside of the program. The message is for a person. */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

function outputError({ code, message }: NodeJS.ErrnoException): CommandError {
  const exitCode = code === 'EPIPE' ? EXIT_CODES.brokenPipe : EXIT_CODES.outputError;
  return new CommandError(`standard output: ${message}`, exitCode);
}

/** Whether a caller of `deliver` got the error of standard output, and ends the command when it has acted on it. */
let isErrorDelivered = false;

/** One listener, however much is written. Without any, the event of an error would end the process as a defect. */
function listening(stream: NodeJS.WriteStream, onError: (error: Error) => void): NodeJS.WriteStream {
  return stream.listenerCount('error') === 0 ? stream.on('error', onError) : stream;
}

export const PROCESS_IO: Io = {
  stdout: {
    get isTTY() {
      return process.stdout.isTTY;
    },
    write: (text) => listening(process.stdout, exitOnOutputError).write(text),
    deliver: (text) =>
      new Promise((resolve, reject) => {
        listening(process.stdout, exitOnOutputError).write(text, (error) => {
          if (!error) return resolve();
          isErrorDelivered = true;
          reject(outputError(error));
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
    // Nobody reads the messages any more, as with `2>&1 | head`. The work and its exit code stay.
    write: (text) => listening(process.stderr, () => {}).write(text),
  },
};

/** Ends the process because its output has no reader any more: `head`, for example, closes the pipe early. */
function exitOnOutputError(error: NodeJS.ErrnoException): void {
  // The callback of a write comes before the event.
  if (isErrorDelivered) return;
  const { message, exitCode } = outputError(error);
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

/**
 * Returns rows as padded columns, with a line break at the end. A cell takes one line, whatever its text: the names of
 * keys come from clients.
 */
export async function table(heading: readonly string[], rows: readonly (readonly string[])[]): Promise<string> {
  const { default: widthOf } = await import('string-width');
  const all = [heading, ...rows].map((row) => row.map(escapeControls));
  const widths = heading.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ''))));
  const padded = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell));
  return all.map((row) => `${row.map(padded).join('  ').trimEnd()}\n`).join('');
}
