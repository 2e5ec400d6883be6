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
  const written = { out: '', err: '' };
  const record = (stream: 'out' | 'err') => ({
    write: (text: string) => {
      written[stream] += text;
    },
  });
  const code = await runCommand(args, { stdout: record('out'), stderr: record('err'), environment });
  return { code, ...written };
}
