import { Readable } from 'node:stream';
import { type Command, Option } from 'commander';
import type { ImportResult } from '#packages/client/index.js';
import { RequestRefused, Unavailable, UnknownService } from '#packages/remote/errors.js';
import { RESOURCES } from '../../../../domain/record.js';
import { EXIT_CODES } from '../../../../shared/program.js';
import { escapeControls, redactSecrets } from '../../../../shared/shown-text.js';
import type { CliContext } from '../context.js';
import { besideSource, isSealed, RefusedFile, releaseSealed } from '../import/refused-file.js';
import { digestOf, FORMATS, type Format, firstLine, formatOf, SourceFile } from '../import/source-file.js';
import { type Io, writeJson } from '../io.js';
import { type Progress, withProgress } from '../progress.js';
import { detailText, exitCodeOfRefusal, REMOTE_NOTE, remoteOptions, urlOption } from '../remote.js';

interface ImportCommandOptions {
  readonly resource: (typeof RESOURCES)[number];
  readonly match?: string;
  readonly add?: boolean;
  readonly existing?: 'merge' | 'replace' | 'skip';
  readonly empty?: 'keep' | 'clear';
  readonly dryRun: boolean;
  readonly refused?: string;
  readonly format?: Format;
  readonly url?: string;
  readonly json?: boolean;
}

const MEBIBYTE = 1_048_576;
/** The reasons of as many refused records are shown. */
const SHOWN_REASONS = 10;
/** If records are refused, the exit code is the first of these that fits one of them. */
const CODES_OF_REFUSALS = [EXIT_CODES.dataError, EXIT_CODES.notPermitted, EXIT_CODES.unavailable];
const AGAIN = 'Run the same command again: what is done stays as it is.';

const MATCH_OR_ADD =
  'error: say what a line is: with --match FIELD (sku, email or id) it changes the record that has its value of this ' +
  'field, or creates it; with --add it is a new record';

const NOTE = `
With --match, a line changes the record that has its value of this field, or
creates one; "deleted": true deletes it. With --add, each line is a new record,
and the same file again creates only what is missing, for at least 24 hours. A
file that was changed meanwhile is another one: all its lines are new records.

Correct the refused lines in their own file, and import that one next.

API_KEY is the API key of the service, or an access token.
${REMOTE_NOTE}

example: API_KEY=pcs_… catalogue import products.csv --resource products --match sku`;

export function addImport(program: Command, context: CliContext): void {
  const { io, loadRemote, exitWith } = context;
  const command = program.command('import');
  command
    .summary('send a file of records to a running service')
    .description(
      'Sends the records of a file to a running service, which creates, changes or deletes them line by line. A line ' +
        'that is refused does not stop the others.',
    )
    .argument('<file>', 'NDJSON or CSV; - is standard input')
    .addOption(choice('--resource <name>', 'what the records are', RESOURCES).makeOptionMandatory())
    .option('--match <field>', 'the field that names the record of a line: sku, email or id')
    .addOption(new Option('--add', 'each line is a new record').conflicts('match'))
    .addOption(choice('--existing <way>', 'what a line does to its record', ['merge', 'replace', 'skip']))
    .addOption(choice('--empty <way>', 'what an empty cell of CSV does under merge', ['keep', 'clear']))
    .option('--dry-run', 'write nothing, and say what would happen', false)
    .option('--refused <file>', 'a file for the refused lines (default: NAME.refused.EXT beside the file)')
    .addOption(choice('--format <format>', 'by default, how the name ends', Object.keys(FORMATS)))
    .addOption(urlOption())
    .option('--json', 'print the result as JSON')
    .addHelpText('after', NOTE)
    .action(async (file: string, options: ImportCommandOptions) => {
      const { resource, match, add, existing, empty, dryRun, json = false } = options;
      const format = options.format ?? formatOf(file);
      if (!format) return command.error(`error: the name '${file}' tells no format; say --format`);
      if (existing && match === undefined) return command.error('error: --existing needs --match');
      if (empty && (match === undefined || format !== 'csv'))
        return command.error('error: --empty needs --match and CSV');
      if (match === undefined && !add) return command.error(MATCH_OR_ADD);
      const remote = await remoteOptions(context, options.url);
      const { remoteCatalogue } = await loadRemote();
      await withProgress(io, async (progress, signals) => {
        const source = await SourceFile.open(file, format, (bytes) =>
          progress.show('reading', bytes / MEBIBYTE, undefined, ' MiB'),
        );
        const isWritten = source.isNamed && !dryRun;
        const refusedPath = options.refused ?? (isWritten ? besideSource(file) : undefined);
        let refused: RefusedFile | undefined;
        try {
          refused = refusedPath === undefined ? undefined : await RefusedFile.at(refusedPath, source);
          // What is corrected in a file of refused lines, and imported, may be replaced again.
          const isRelease = isWritten && (await isSealed(file));
          const digest = add || isRelease ? await digestOf(source.bytes()) : '';
          const run = new ImportRun(io, progress, source, refused);
          const stop = new AbortController();
          const results = remoteCatalogue(remote)
            .collection(`/v1/${resource}`)
            .importFile(FORMATS[format].type, Readable.toWeb(source.bytes()) as ReadableStream<Uint8Array>, {
              signal: stop.signal,
              ...(match !== undefined && { match, ...(existing && { existing }), ...(empty && { empty }) }),
              ...(dryRun && { dryRun }),
              ...(add && !dryRun && { idempotencyKey: `import-${digest}` }),
            });
          signals.listen();
          const isStopped = () => {
            if (signals.exitCode !== undefined) stop.abort();
            return stop.signal.aborted;
          };
          const failure = await run.follow(results, isStopped).catch((error: Error) => error);
          progress.clear();
          if (!failure || run.total > 0) run.report({ dryRun, json });
          signals.throwIfInterrupted(`Interrupted. ${AGAIN}`);
          if (failure instanceof Unavailable) throw new Unavailable(`${failure.message}\n${AGAIN}`);
          if (failure) throw failure;
          await refused?.finish();
          // What it still refuses is in a file of its own.
          if (isRelease) await releaseSealed(file, digest);
          if (run.exitCode !== EXIT_CODES.ok && !dryRun) io.stderr.write(whatNext(refusedPath));
          exitWith(run.exitCode);
        } finally {
          await refused?.close();
          await source.close();
        }
      });
    });
}

function whatNext(refused: string | undefined): string {
  return refused === undefined
    ? 'the refused lines are not kept: --refused FILE keeps them\n'
    : `${escapeControls(refused)}: the refused lines are the file to import next; correct them there\n`;
}

function choice(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices);
}

/** Reads the results of an import, each with its record, and counts them. */
class ImportRun {
  /** How many records have a result. */
  total = 0;
  private readonly counts = { created: 0, changed: 0, unchanged: 0, deleted: 0, refused: 0 };
  private readonly codes = new Set<number>();

  constructor(
    private readonly io: Io,
    private readonly progress: Progress,
    private readonly source: SourceFile,
    private readonly refused: RefusedFile | undefined,
  ) {}

  /** 0 if no record was refused. */
  get exitCode(): number {
    return CODES_OF_REFUSALS.find((code) => this.codes.has(code)) ?? EXIT_CODES.ok;
  }

  /**
   * @param isStopped whether the rest shall not be read
   * @throws RequestRefused; Unavailable, also if results are missing; UnknownService if they are of other records;
   * CommandError
   */
  async follow(results: AsyncIterable<ImportResult>, isStopped: () => boolean): Promise<void> {
    const { source, progress, counts } = this;
    const records = source.records();
    for await (const result of read(results)) {
      const { value: record } = await records.next();
      const { line, status, error } = result;
      if (!record || record.number !== line)
        throw new UnknownService(`The service has a result for record ${line}, which the file lacks there.`);
      this.total++;
      counts[kindOf(result)]++;
      if (error) {
        this.codes.add(exitCodeOfRefusal(status));
        await this.refused?.add(record);
        if (counts.refused <= SHOWN_REASONS) this.explain(firstLine(record), error);
      }
      progress.show('importing', source.position / MEBIBYTE, source.size / MEBIBYTE, ' MiB');
      if (isStopped()) return;
    }
    if (!(await records.next()).done) throw new Unavailable('The results end before the file.');
  }

  /** Prints the counts. */
  report({ dryRun, json }: { readonly dryRun: boolean; readonly json: boolean }): void {
    const { io, counts, total } = this;
    const hidden = counts.refused - SHOWN_REASONS;
    if (hidden > 0) io.stderr.write(`${hidden} more are refused\n`);
    const texts = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
    if (json) writeJson(io, counts);
    else io.stdout.write(`${total} records${dryRun ? ' (dry run)' : ''}: ${texts.join(', ')}\n`);
  }

  private explain(line: number, { code, details, message }: NonNullable<ImportResult['error']>): void {
    this.progress.clear();
    const reasons = details.length > 0 ? details.map(detailText) : [message];
    const text = `line ${line}: ${code}: ${reasons.join('; ')}`;
    this.io.stderr.write(`${redactSecrets(escapeControls(text))}\n`);
  }
}

/** @throws Unavailable also if a result is no JSON, or breaks off */
async function* read(results: AsyncIterable<ImportResult>): AsyncGenerator<ImportResult, void, void> {
  try {
    yield* results;
  } catch (error) {
    if (error instanceof RequestRefused || error instanceof Unavailable) throw error;
    throw new Unavailable(`The results cannot be read: ${(error as Error).message}.`);
  }
}

function kindOf({ status, unchanged, replayed, error }: ImportResult) {
  if (error) return 'refused';
  if (unchanged || replayed) return 'unchanged';
  if (status === 201) return 'created';
  return status === 204 ? 'deleted' : 'changed';
}
