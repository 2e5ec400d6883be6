/** The output and the environment variables of a command. Tests replace them. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output & { readonly isTTY?: boolean };
  /** Absent: the environment variables of the process. */
  readonly environment?: NodeJS.ProcessEnv;
}

interface Output {
  write(text: string): unknown;
}

/** The exit code that a shell reports for a process that SIGPIPE ends. */
const SIGPIPE_EXIT_CODE = 141;
/** sysexits.h */
const EX_IOERR = 74;

export const PROCESS_IO: Io = {
  stdout: {
    write: (text) => {
      if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', exitOnOutputError);
      process.stdout.write(text);
    },
  },
  stderr: process.stderr,
};

/** Ends the process because its output has no reader any more: `head`, for example, closes the pipe early. */
function exitOnOutputError({ code, message }: NodeJS.ErrnoException): never {
  if (code === 'EPIPE') process.exit(SIGPIPE_EXIT_CODE);
  process.stderr.write(`standard output: ${message}\n`);
  process.exit(EX_IOERR);
}
