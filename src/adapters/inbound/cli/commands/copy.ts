import type { Command } from 'commander';
import { type CopyReport, countsIn } from '../../../../application/maintenance/copy-archive.js';
import type { CliContext } from '../context.js';
import { writeJson } from '../io.js';
import { withProgress } from '../with-progress.js';

interface CopyOptions {
  readonly from: string;
  readonly to: string;
  readonly json?: boolean;
}

const EXAMPLE =
  "example: catalogue copy --from sqlite:data/catalogue.sqlite --to 'mongodb://db1,db2,db3/catalogue?replicaSet=rs0'";

export function addCopy(program: Command, context: CliContext): void {
  const { io, loadTasks, storeUrlForms, isStoreUrl } = context;
  const copy = program.command('copy');
  // The error of commander would quote the URL, with its password.
  const parserOf = (option: string) => (text: string) =>
    isStoreUrl(text) ? text : copy.error(`error: ${option} is no store. A store is ${storeUrlForms}.`);
  copy
    .summary('copy all of one store to another and verify the copy')
    .description(
      'Copies every record, tombstone, reservation, API key, signing key and counter of one store to another, then ' +
        'compares both. Stop the service of the source first: later writes would not be in the copy. If the command is ' +
        'interrupted, run it again: it writes only what is missing.',
    )
    .requiredOption('--from <url>', 'the store to copy', parserOf('--from'))
    .requiredOption('--to <url>', 'the store that receives the copy', parserOf('--to'))
    .option('--json', 'print a line of JSON for each resource')
    .addHelpText('after', `\nURL is ${storeUrlForms}. The settings do not count.\n\n${EXAMPLE}`)
    .action(async ({ from, to, json }: CopyOptions) => {
      const { copyStores } = await loadTasks();
      const reports = await withProgress(io, (progress, signals) =>
        copyStores(from, to, (name, step, entries, total) => {
          // Not while the stores are opened: to bring one to the current schema can take long, in one step.
          signals.listen();
          signals.throwIfInterrupted(
            'Interrupted. Run the same command again: it writes only what is missing.',
          );
          progress.show(`${step} ${name}`, entries, total);
        }),
      );
      for (const report of reports) {
        if (json) writeJson(io, report);
        else io.stdout.write(`${describeReport(report)}\n`);
      }
    });
}

function describeReport(report: CopyReport): string {
  const { name, written, checksum } = report;
  return `${name}: ${countsIn(report)}, ${written} of them written now; both sides SHA-256 ${checksum}`;
}
