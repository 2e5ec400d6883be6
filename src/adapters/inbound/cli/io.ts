/** Where a command writes, and which environment variables it reads. Tests replace it. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output & { readonly isTTY?: boolean };
  /** Absent: those of the process. */
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
      if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', exitUnread);
      process.stdout.write(text);
    },
  },
  stderr: process.stderr,
};

/** Ends the process, because nobody reads what it prints: a reader such as `head` may leave before the end. */
function exitUnread({ code, message }: NodeJS.ErrnoException): never {
  if (code === 'EPIPE') process.exit(SIGPIPE_EXIT_CODE);
  process.stderr.write(`standard output: ${message}\n`);
  process.exit(EX_IOERR);
}
