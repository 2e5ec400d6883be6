import type { Command } from 'commander';
import type { CliContext } from '../context.js';

export function addChanges(program: Command, { io, loadSettings, loadTasks }: CliContext): void {
  const changes = program
    .command('changes')
    .summary('make the cursors of changes expire')
    .description('Administers the feeds of changes, whether a service runs or not.')
    .addHelpText('after', '\nexample: catalogue changes reset');

  changes
    .command('reset')
    .summary('make all cursors of changes expire')
    .description(
      'Makes all cursors of changes expire, so that clients list again. Run it after another program has put older data ' +
        'in the place of the store: its changes have no order with those that clients know.',
    )
    .addHelpText('after', '\nexample: catalogue changes reset')
    .action(async () => {
      const settings = loadSettings();
      await (await loadTasks()).resetFeeds(settings);
      io.stdout.write('All cursors of changes have expired.\n');
    });
}
