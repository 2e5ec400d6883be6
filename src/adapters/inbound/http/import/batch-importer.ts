import type { Logger } from '../../../../application/ports/logger.js';
import type { RecordWrite, WriteOutcome } from '../../../../application/records/record-writer.js';
import { AppError } from '../../../../domain/errors.js';
import { heldBytes } from '../../../../shared/byte-quota.js';
import type { Permit } from '../../../../shared/fair-semaphore.js';
import { jsonLine } from '../../../../shared/json.js';
import { andThen, type MaybePromise } from '../../../../shared/promises.js';
import type { ImportLine } from '../../../../shared/record-splitters.js';
import { Slices, type Task } from '../../../../shared/task-scheduler.js';
import { type CodedError, isCoded, statusOf } from '../core/http-error.js';
import { type ImportRecord, type LineWriter, refusalOf } from './line-writers.js';
import { lengthOf } from './read-lines.js';

export interface BatchImporterOptions {
  readonly writer: LineWriter<unknown>;
  /** Reads the record in a line, or throws a coded error. */
  readonly parse: (line: ImportLine) => ImportRecord;
  /** Returns an error as the client may see it. */
  readonly shown: (error: CodedError) => CodedError;
  readonly logger: Logger;
  /** The ids of the request, for the log. */
  readonly ids: Readonly<Record<string, string>>;
  /** Whose import it is. */
  readonly task: Task;
  /**
   * Waits for the memory of a batch.
   * @throws AppError `unavailable`
   */
  readonly takePlace: (bytes: number) => MaybePromise<Pick<Permit, 'release'>>;
  /** Throws an AppError if the client may import no more lines. Absent: it may import all. */
  readonly checkAccess?: () => MaybePromise<void>;
}

/** Writes the records of an import, batch by batch. */
export class BatchImporter {
  /** How many lines were recognised as repeated. */
  replays = 0;
  private isStoreDown = false;
  /** The error of all further lines, after the client has lost its access. */
  private refusal: AppError | undefined;

  constructor(private readonly options: BatchImporterOptions) {}

  /**
   * Holds a place until the outcome of the last line is known: what waits for its client has none. Await each call
   * before the next one, whose lines follow.
   * @returns one result per line, in the same order, as NDJSON; a promise if a line has to be tried again
   */
  async import(lines: readonly ImportLine[]): Promise<{ readonly results: MaybePromise<string> }> {
    let place: Pick<Permit, 'release'>;
    try {
      place = await this.options.takePlace(heldBy(lines));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const refused = lines.map(() => ({ error }));
      return { results: this.resultsOf(lines, refused, [].values()) };
    }
    const release = () => place.release();
    try {
      const imported = await this.importAll(lines);
      if (imported.results instanceof Promise) imported.results.then(release, release);
      else release();
      return imported;
    } catch (error) {
      release();
      throw error;
    }
  }

  private async importAll(lines: readonly ImportLine[]): Promise<{ readonly results: MaybePromise<string> }> {
    const slices = new Slices(this.options.task);
    const prepared: Prepared[] = [];
    for (const line of lines) {
      const pause = slices.next(lengthOf(line));
      if (pause) await pause;
      prepared.push(this.prepare(line));
    }
    const records = prepared.flatMap((one) => ('record' in one ? [one.record] : []));
    const outcomes = await this.writeAll(records);
    const results = andThen(allOf(outcomes), (known) => this.resultsOf(lines, prepared, known.values()));
    // The results of earlier lines are awaited first, and then these.
    if (results instanceof Promise) results.catch(() => {});
    return { results };
  }

  private resultsOf(
    lines: readonly ImportLine[],
    prepared: readonly Prepared[],
    outcomes: Iterator<WriteOutcome<unknown>>,
  ): string {
    const results = prepared.map((one) => this.resultOf('record' in one ? outcomes.next().value : one.error));
    this.replays += results.filter((result) => 'replayed' in result).length;
    return lines.map(({ number: line }, at) => jsonLine(JSON.stringify({ line, ...results[at] }))).join('');
  }

  private prepare(line: ImportLine): Prepared {
    const { writer, parse } = this.options;
    try {
      return { record: writer.prepare(parse(line), line.number, lengthOf(line)) };
    } catch (error) {
      if (isCoded(error)) return { error };
      throw error;
    }
  }

  /**
   * If the store is unavailable, or the client has lost its access, every line gets that error. Sending the lines again
   * writes nothing twice, if they have keys.
   */
  private async writeAll(
    records: readonly RecordWrite<unknown>[],
  ): Promise<readonly MaybePromise<WriteOutcome<unknown>>[]> {
    const { writer, task, checkAccess } = this.options;
    try {
      if (this.refusal) throw this.refusal;
      await checkAccess?.();
      const outcomes = await writer.writeAll(records, task);
      this.isStoreDown = false;
      return outcomes;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'unavailable') this.logOnce(error);
      else this.refusal = error;
      return records.map(() => error);
    }
  }

  /** Logs an outage once, not for each batch of a long stream. */
  private logOnce({ code, cause }: AppError): void {
    const { logger, ids } = this.options;
    if (!this.isStoreDown) logger.error(code, { ...ids, error: cause });
    this.isStoreDown = true;
  }

  private resultOf(outcome: WriteOutcome<unknown> | CodedError): object {
    const { writer, shown } = this.options;
    if (!isCoded(outcome)) return writer.result(outcome);
    const { code, message, details } = shown(outcome);
    return { status: statusOf(outcome), ...refusalOf(outcome), error: { code, message, details } };
  }
}

/** What a line is counted for besides itself: the record that it finds. */
const FOUND_BYTES = 4 * 1024;

/** How many bytes of memory the records of a batch take, approximately. */
function heldBy(lines: readonly ImportLine[]): number {
  return heldBytes({ parsedFrom: lengthOf(...lines) }) + FOUND_BYTES * lines.length;
}

/** A record to write, as its writer has prepared it, or why its line is refused. */
type Prepared = { readonly record: RecordWrite<unknown> } | { readonly error: CodedError };

function allOf<Outcome>(outcomes: readonly MaybePromise<Outcome>[]): MaybePromise<readonly Outcome[]> {
  return outcomes.some((outcome) => outcome instanceof Promise)
    ? Promise.all(outcomes)
    : (outcomes as readonly Outcome[]);
}
