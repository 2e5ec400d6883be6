import type { Command } from 'commander';
import { type CopyReport, countsIn } from '../../../../application/maintenance/copy-archive.js';
import type { CliContext } from '../context.js';
import { TerminalProgress } from '../progress.js';

const NOTE = '\nURL is sqlite:FILE or mongodb://…; stop the service of the store that is copied from.';

export function addCopy(program: Command, { io, loadTasks }: CliContext): void {
  program
    .command('copy')
    .description('copy all of one store to another and verify the copy; safe to run again')
    .requiredOption('--from <url>', 'the store to copy')
    .requiredOption('--to <url>', 'the store that receives the copy')
    .addHelpText('after', NOTE)
    .action(async ({ from, to }: { readonly from: string; readonly to: string }, command: Command) => {
      if (!from || !to) command.error('error: copy needs --from and --to');
      const { copyStores } = await loadTasks();
      const progress = new TerminalProgress(io.stderr);
      try {
        const reports = await copyStores(from, to, (name, step, entries) =>
          progress.show(`${name}: ${step} ${entries}`),
        );
        progress.clear();
        for (const report of reports) io.stdout.write(`${describeReport(report)}\n`);
      } finally {
        progress.clear();
      }
    });
}

function describeReport(report: CopyReport): string {
  const { name, written, checksum } = report;
  return `${name}: ${countsIn(report)}, ${written} of them written now; both sides SHA-256 ${checksum}`;
}
