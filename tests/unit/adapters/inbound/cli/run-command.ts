import { runCommand } from '#src/command-line.js';

interface CommandOutcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs the command line in this process. The command must end by itself.
 * @param environment the settings; the environment of this process does not apply
 */
export async function runInProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  stdout: { readonly isTTY?: boolean } = {},
): Promise<CommandOutcome> {
  const output = { out: '', err: '' };
  const collect = (stream: 'out' | 'err') => ({
    write: (text: string) => {
      output[stream] += text;
    },
  });
  const code = await runCommand(args, {
    stdout: { ...collect('out'), deliver: async (text) => collect('out').write(text), ...stdout },
    stderr: collect('err'),
    environment,
  });
  return { code, ...output };
}
