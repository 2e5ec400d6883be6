import { runCommand } from '#src/command-line.js';

export interface CommandOutcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs a command of `catalogue` in this process, for commands that end by themselves.
 * @param environment the settings, in place of those of this process
 */
export async function runInProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandOutcome> {
  const written = { out: '', err: '' };
  const record = (stream: 'out' | 'err') => ({
    write: (text: string) => {
      written[stream] += text;
    },
  });
  const code = await runCommand(args, { stdout: record('out'), stderr: record('err'), environment });
  return { code, ...written };
}
