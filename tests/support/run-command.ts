import { runCommand } from '#src/command-line.js';

export interface CommandOutcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs the command line in this process. The command must end by itself.
 * @param environment the settings; those of this process do not apply
 */
export async function runInProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandOutcome> {
  const { env, stdout, stderr } = process;
  const written = { out: '', err: '' };
  const writes = [stdout.write, stderr.write] as const;
  const recorder = (stream: 'out' | 'err') => (chunk: unknown) => {
    written[stream] += chunk;
    return true;
  };
  process.env = { ...environment };
  stdout.write = recorder('out');
  stderr.write = recorder('err');
  try {
    return { code: await runCommand([...args]), ...written };
  } finally {
    process.env = env;
    [stdout.write, stderr.write] = writes;
  }
}
