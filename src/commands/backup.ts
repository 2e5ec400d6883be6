import { backUpStore } from '../composition/admin-tasks.js';
import { loadSettings } from '../config/settings.js';
import { exitOnConfigError } from '../process/exit.js';
import { parse, say, UsageError } from './arguments.js';
import { Interrupted, Interruption } from './interruption.js';
import { TerminalProgress } from './terminal-progress.js';

const MEBIBYTE = 1_048_576;

export async function runBackup(args: string[]): Promise<void> {
  const { positionals } = parse(args, [], true);
  const [file = ''] = positionals;
  if (positionals.length !== 1 || file === '') throw new UsageError('backup needs one file');
  const settings = await exitOnConfigError(() => loadSettings());
  const interruption = new Interruption();
  const terminal = new TerminalProgress();
  try {
    const bytes = await backUpStore(settings, file, (copied, total) => {
      if (interruption.exitCode !== undefined)
        throw new Interrupted('Interrupted. No backup was made.', interruption.exitCode);
      if (copied === total) terminal.clear();
      terminal.show(copied < total ? `copied ${mebibytes(copied)} of ${mebibytes(total)} MiB` : 'checking');
    });
    terminal.clear();
    say(`${file}: ${bytes} bytes, checked\n`);
  } finally {
    interruption.end();
    terminal.clear();
  }
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / MEBIBYTE);
}
