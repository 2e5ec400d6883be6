import { type Command, InvalidArgumentError } from 'commander';
import type { BackupProgress } from '../../../../application/ports/store.js';
import { escapeControls } from '../../../../shared/shown-text.js';
import type { CliContext } from '../context.js';
import { writeJson } from '../io.js';
import { type Progress, type SignalListener, withProgress } from '../progress.js';

const MEBIBYTE = 1_048_576;

export function addBackup(program: Command, { io, loadSettings, loadTasks }: CliContext): void {
  program
    .command('backup')
    .summary('copy the SQLite database to a new file')
    .description(
      'Copies the SQLite database to a new file and checks the copy. The service may run meanwhile. The file gets its ' +
        'name when it is complete; no existing file is replaced.',
    )
    .argument('<file>', 'a file that does not exist yet', parseFile)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nexample: catalogue backup backups/monday.sqlite')
    .action(async (file: string, { json }: { readonly json?: boolean }) => {
      const settings = loadSettings();
      const { backUpStore } = await loadTasks();
      const bytes = await withProgress(io, (progress, signals) => {
        signals.listen();
        return backUpStore(settings, file, show(progress, signals, 'Interrupted. No backup was created.'));
      });
      if (json) writeJson(io, { file, bytes });
      else io.stdout.write(`${escapeControls(file)}: ${bytes} bytes, checked\n`);
    });
}

export function addRestore(program: Command, { io, loadSettings, loadTasks }: CliContext): void {
  program
    .command('restore')
    .summary('put a backup in the place of the SQLite database')
    .description(
      'Puts a copy of a backup in the place of the SQLite database. Stop the service first. The backup is checked, and ' +
        'the replaced database stays in a folder beside it. If the command is interrupted or killed at any moment, the ' +
        'database is the whole old one or the whole new one.',
    )
    .argument('<file>', 'a backup', parseFile)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nexample: catalogue restore backups/monday.sqlite')
    .action(async (file: string, { json }: { readonly json?: boolean }) => {
      const settings = loadSettings();
      const { restoreStore } = await loadTasks();
      const { database, bytes, replaced } = await withProgress(io, (progress, signals) =>
        restoreStore(settings, file, show(progress, signals, 'Interrupted. The database is unchanged.')),
      );
      if (json) return writeJson(io, { database, bytes, replaced });
      io.stdout.write(`${escapeControls(database)}: restored, ${bytes} bytes, checked\n`);
      if (replaced !== undefined) io.stdout.write(`The replaced database is in ${escapeControls(replaced)}\n`);
    });
}

function show(progress: Progress, signals: SignalListener, interrupted: string): BackupProgress {
  return (copied, total) => {
    // A restore listens when it has locked the database: until then one step, the writing of its log, can take long.
    signals.listen();
    signals.throwIfInterrupted(interrupted);
    if (total === 0) return;
    if (copied < total) progress.show('copying', copied / MEBIBYTE, total / MEBIBYTE, ' MiB');
    else {
      progress.clear();
      progress.show('checking', total / MEBIBYTE, undefined, ' MiB');
    }
  };
}

function parseFile(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty.');
  return text;
}
