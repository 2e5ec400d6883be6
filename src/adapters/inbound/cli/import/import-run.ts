import type { ImportResult } from '#packages/client/index.js';
import { RequestRefused, Unavailable, UnknownService } from '#packages/remote/errors.js';
import { EXIT_CODES } from '../../../../shared/program.js';
import { escapeControls, redactSecrets } from '../../../../shared/shown-text.js';
import { type Io, writeJson } from '../io.js';
import type { Progress } from '../progress.js';
import { detailText, exitCodeOfRefusal } from '../refusal.js';
import type { RefusedFile } from './refused-file.js';
import { firstLine, type SourceFile, type SourceRecord } from './source-file.js';

const MEBIBYTE = 1_048_576;
/** The reasons of as many refused records are shown. */
const SHOWN_REASONS = 10;
/** If records are refused, the exit code is the first of these that fits one of them. */
const CODES_OF_REFUSALS = [EXIT_CODES.dataError, EXIT_CODES.notPermitted, EXIT_CODES.unavailable];

/** Reads the results of an import, each with its record, and counts them. */
export class ImportRun {
  private readonly counts = { created: 0, changed: 0, unchanged: 0, deleted: 0, refused: 0 };
  private readonly codes = new Set<number>();

  constructor(
    private readonly io: Io,
    private readonly progress: Progress,
    private readonly source: SourceFile,
    private readonly refused: RefusedFile | undefined,
  ) {}

  /** How many records have a result. */
  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count);
  }

  /** 0 if no record was refused. */
  get exitCode(): number {
    return CODES_OF_REFUSALS.find((code) => this.codes.has(code)) ?? EXIT_CODES.ok;
  }

  /**
   * @param isStopped whether the rest shall not be read
   * @throws RequestRefused; Unavailable, also if results are missing; UnknownService if they are of other records;
   * FileError
   */
  async follow(results: AsyncIterable<ImportResult>, isStopped: () => boolean): Promise<void> {
    const { source, progress } = this;
    const records = source.records();
    for await (const result of read(results)) {
      const { value: record } = await records.next();
      if (!record || record.number !== result.line)
        throw new UnknownService(
          `The service has a result for record ${result.line}, which the file lacks there.`,
        );
      await this.add(record, result);
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

  private async add(record: SourceRecord, result: ImportResult): Promise<void> {
    const { status, error } = result;
    this.counts[kindOf(result)]++;
    if (!error) return;
    this.codes.add(exitCodeOfRefusal(status));
    await this.refused?.add(record);
    if (this.counts.refused > SHOWN_REASONS) return;
    this.progress.clear();
    const reasons = error.details.length > 0 ? error.details.map(detailText) : [error.message];
    const text = `line ${firstLine(record)}: ${error.code}: ${reasons.join('; ')}`;
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

type Kind = 'created' | 'changed' | 'unchanged' | 'deleted' | 'refused';

function kindOf({ status, unchanged, replayed, error }: ImportResult): Kind {
  if (error) return 'refused';
  if (unchanged || replayed) return 'unchanged';
  if (status === 201) return 'created';
  return status === 204 ? 'deleted' : 'changed';
}
