import type { Command } from 'commander';
import { countsIn } from '../../../../application/maintenance/copy.js';
import type { CliContext } from '../context.js';
import { writeJson } from '../io.js';
import { withProgress } from '../progress.js';

interface CopyOptions {
  readonly from: string;
  readonly to: string;
  readonly overwrite?: boolean;
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
    .summary('copy all of one store to an empty one and verify the copy')
    .description(
      'Copies every record, tombstone, reservation, API key, signing key and counter of one store to an empty one, then ' +
        'compares both. Stop the service of the source first: later writes would not be in the copy. No service and no ' +
        'other command takes the target until the copy has ended.',
    )
    .requiredOption('--from <url>', 'the store to copy', parserOf('--from'))
    .requiredOption('--to <url>', 'the store that receives the copy', parserOf('--to'))
    .option('--overwrite', 'delete what a copy that broke off left in the target, and print what that is')
    .option('--json', 'print a line of JSON for each resource')
    .addHelpText('after', `\nURL is ${storeUrlForms}. The settings do not count.\n\n${EXAMPLE}`)
    .action(async ({ from, to, overwrite, json }: CopyOptions) => {
      const print = (line: string, value: object) => (json ? writeJson(io, value) : io.stdout.write(`${line}\n`));
      const { copyStores } = await loadTasks();
      const reports = await withProgress(io, (progress, signals) =>
        copyStores(from, to, {
          progress: (name, step, entries, total) => {
            // Not while the stores are opened: to bring one to the current schema can take long, in one step.
            signals.listen();
            signals.throwIfInterrupted(
              'Interrupted. The copy is not whole: run the same command again, with --overwrite.',
            );
            progress.show(`${step} ${name}`, entries, total);
          },
          ...(overwrite && {
            overwrite: (deleted) => {
              for (const { name, counts } of deleted)
                print(`${name}: ${countsIn({ counts })} deleted in the target`, { name, deleted: counts });
            },
          }),
        }),
      );
      for (const report of reports)
        print(`${report.name}: ${countsIn(report)}; both sides SHA-256 ${report.checksum}`, report);
    });
}
