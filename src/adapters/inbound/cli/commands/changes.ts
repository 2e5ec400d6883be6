import { type Command, Option } from 'commander';
import { RESOURCES } from '../../../../domain/record.js';
import type { CliContext } from '../context.js';
import { terminalJson } from '../io.js';
import { REMOTE_NOTE, remoteOptions, urlOption } from '../remote.js';

interface ChangesOptions {
  readonly resource?: (typeof RESOURCES)[number];
  readonly from?: string;
  readonly fields?: string;
  readonly follow: boolean;
  readonly cursors: boolean;
  readonly url?: string;
}

const NOTE = `
A record is printed as it is now, a deletion as {"id","version","deleted":true}.
Without --from, changes begin now. With --cursors, store the cursor of the last
such line that you have read to its line end, and pass it to --from next time.
If changes may be missing, the exit code is 65: take a new cursor and list again.

API_KEY is the API key of the service, or an access token.
${REMOTE_NOTE}

example: API_KEY=pcs_… catalogue changes --resource products --follow`;

export function addChanges(program: Command, context: CliContext): void {
  const { io, loadSettings, loadTasks } = context;
  const changes = program
    .command('changes')
    .summary('print what changes in a running service')
    .description('Prints the changes of products, users or orders of a running service, a line of JSON each.')
    .addOption(new Option('--resource <name>', 'what the records are (required)').choices(RESOURCES))
    .option('--from <cursor>', 'where an earlier command ended')
    .option('--fields <names>', 'only these fields, separated by commas')
    .option('--follow', 'wait for further changes, until a signal', false)
    .option('--cursors', 'also print {"cursor":…} after each page, and every 30 seconds while nothing changes', false)
    .addOption(urlOption())
    .addHelpText('after', NOTE)
    .action((options: ChangesOptions) =>
      options.resource
        ? printChanges(context, options.resource, options)
        : changes.error("error: required option '--resource <name>' not specified"),
    );

  changes
    .command('reset')
    .summary('make all cursors of changes and all tags expire')
    .description(
      'Makes all cursors of changes expire, so that clients list again, and all ETags of records, so that they read ' +
        'again. Run it after another program has put older data in the place of the store: its changes have no order ' +
        'with those that clients know.',
    )
    .addHelpText('after', '\nexample: catalogue changes reset')
    .action(async () => {
      // commander reads the options of `changes` before and after the name of the subcommand.
      if (changes.getOptionValue('resource') !== undefined)
        changes.error('error: reset makes the cursors of all resources expire, and takes no --resource');
      const settings = loadSettings();
      await (await loadTasks()).resetFeeds(settings);
      io.stdout.write('All cursors of changes and all tags have expired.\n');
    });
}

/** @throws RequestRefused, Unavailable; CommandError */
async function printChanges(
  context: CliContext,
  resource: string,
  { from, fields, follow, cursors, url }: ChangesOptions,
): Promise<void> {
  const { io, loadRemote } = context;
  const remote = await remoteOptions(context, url);
  const { remoteCatalogue } = await loadRemote();
  const records = remoteCatalogue(remote).collection(`/v1/${resource}`);
  const options = { follow, fields: fields?.split(',') as never };
  // Fails at once if the service does not respond. Later, a client that follows is patient.
  const now = await records.changes(options).start();
  const changes = records.changes({ ...options, from: from ?? now });
  const print = (value: object) => io.stdout.deliver(`${terminalJson(value)}\n`);
  const printCursor = async (cursor: string) => {
    if (cursors) await print({ cursor });
  };
  try {
    if (from === undefined) await printCursor(now);
    for await (const page of changes.pages()) {
      for (const change of page.changes) await print(change);
      await printCursor(page.cursor);
    }
  } catch (error) {
    // The client's own error would not say what the service says.
    throw (error as Error).name === 'ResyncNeeded' ? (error as Error).cause : error;
  }
}
