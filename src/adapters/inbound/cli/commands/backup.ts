import { type Command, InvalidArgumentError } from 'commander';
import type { CliContext } from '../context.js';
import { TerminalProgress } from '../progress.js';
import { Interrupted, SignalListener } from '../signals.js';

const MEBIBYTE = 1_048_576;

export function addBackup(program: Command, { io, loadSettings, loadTasks }: CliContext): void {
  program
    .command('backup')
    .description('copy the SQLite database to a new file and check the copy; the service may run meanwhile')
    .argument('<file>', 'a file that does not exist yet', parseFile)
    .action(async (file: string) => {
      const settings = loadSettings();
      const { backUpStore } = await loadTasks();
      const signals = new SignalListener();
      const terminal = new TerminalProgress(io.stderr);
      try {
        const bytes = await backUpStore(settings, file, (copied, total) => {
          if (signals.exitCode !== undefined)
            throw new Interrupted('Interrupted. No backup was made.', signals.exitCode);
          if (copied === total) terminal.clear();
          terminal.show(
            copied < total ? `copied ${mebibytes(copied)} of ${mebibytes(total)} MiB` : 'checking',
          );
        });
        terminal.clear();
        io.stdout.write(`${file}: ${bytes} bytes, checked\n`);
      } finally {
        signals.close();
        terminal.clear();
      }
    });
}

function parseFile(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty.');
  return text;
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / MEBIBYTE);
}
