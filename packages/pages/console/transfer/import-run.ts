import { CatalogueError, type ImportResult } from '#packages/client/index.js';
import { cellsOf } from '#src/shared/record-splitters.js';
import { FailedRecords } from './failed-records.js';
import type { Finding } from './file-changes.js';
import { inBytes, type Row, type RowReader } from './reading.js';
import { type Format, LIMITS, type Part, type PartLimits, partsOf, type Range, recordsIn } from './records-in-file.js';

/** What an import has done so far, or would do. */
export interface Progress {
  /** Bytes of the file. */
  readonly done: number;
  readonly total: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly deleted: number;
  /** Done by an earlier attempt, whose results were lost; with updates, also what was never to change. */
  readonly earlier: number;
  /** How many records were refused, by the code of the error. */
  readonly refused: ReadonlyMap<string, number>;
}

/** The first records of each kind that a person looks at. */
export interface Findings {
  /** Changed and deleted ones. */
  readonly changed: readonly Finding[];
  /** Those whose version in the file is not the newest. */
  readonly conflicts: readonly Finding[];
  /** The other refused ones. */
  readonly refused: readonly Finding[];
}

/** Sends records, and yields the result of each in order. */
export type Send = (
  body: Blob,
  options: { readonly idempotencyKey?: string; readonly signal: AbortSignal },
) => AsyncIterable<ImportResult>;

export interface RunOptions {
  /** Random, one for each file that a person chooses. Absent: a part that is sent again is not recognised. */
  readonly key?: string | undefined;
  readonly limits?: PartLimits;
  /** How rows of CSV are read. Absent: they are sent as they are. */
  readonly rows?: RowReader | undefined;
  /** Tells which records are as the file says. It finds out what an attempt has done whose results were lost. */
  readonly areDone?: ((records: readonly Finding[], signal: AbortSignal) => Promise<readonly boolean[]>) | undefined;
  /** Called once for each record in the order of the file, with its number, counted from 1. */
  readonly onResult?: ((number: number, result: ImportResult, finding: () => Promise<Finding>) => unknown) | undefined;
}

/** How many findings of each kind are kept. */
const MAX_FINDINGS = 10;

/**
 * The import of one file, in parts of half a megabyte. A browser sends a request whole before it reads the response
 * (HTTP/1.1), so one request for the whole file would show no progress. Each part keeps an idempotency key of its own,
 * so a part whose response was lost can be sent again and creates nothing twice. A part that is too long for a proxy is
 * sent as two halves, and no later part is longer than these.
 */
export class ImportRun {
  private readonly counts = { done: 0, created: 0, changed: 0, unchanged: 0, deleted: 0, earlier: 0 };
  private readonly refused = new Map<string, number>();
  private readonly found = { changed: [], conflicts: [], refused: [] } as {
    readonly [kind in keyof Findings]: Finding[];
  };
  private readonly failures: FailedRecords;
  private readonly limits: { -readonly [name in keyof PartLimits]: number };
  private readonly parts: AsyncGenerator<Part, void, void>;
  /** Halves of a part that was too long. A proxy may have passed the beginning of the part on. */
  private readonly halves: Part[] = [];
  private header: Range | undefined;
  /** The names of the columns in the file, and as they are sent. */
  private names: readonly string[] = [];
  private columns: readonly string[] | undefined;
  /** The file in UTF-8, if it is UTF-16, as soon as it is read. */
  private source: File;
  /** The rows of the current part as they are sent. */
  private sentRows: readonly Row[] | undefined;
  /** The part that is not done yet, and whether an attempt may have done some of it. */
  private current: Part | undefined;
  private isSent = false;
  private number = 0;
  private records = 0;

  constructor(
    private readonly file: File,
    private readonly format: Format,
    private readonly send: Send,
    private readonly options: RunOptions = {},
  ) {
    this.limits = { ...(options.limits ?? LIMITS) };
    this.source = file;
    this.parts = this.partsInSource();
    this.failures = new FailedRecords(file, format, options.rows);
  }

  get progress(): Progress {
    return { ...this.counts, refused: new Map(this.refused), total: this.source.size };
  }

  get findings(): Findings {
    return this.found;
  }

  /** A file of the records that were refused, with their errors. */
  get refusedFile(): File {
    return this.failures.asFile();
  }

  /**
   * Imports what is left of the file. After an error it can be called again, and continues with the same part.
   * @throws CatalogueError, TypeError if the connection is lost, DOMException if the file has changed, the reason of the
   * signal
   */
  async run(signal: AbortSignal, onProgress: (progress: Progress) => void): Promise<void> {
    for (;;) {
      this.current ??= await this.next();
      if (!this.current) return;
      signal.throwIfAborted();
      try {
        await this.importPart(this.current, signal);
      } catch (error) {
        if (!isTooLong(error) || this.current.records.length < 2) throw error;
        this.halve(this.current);
        continue;
      }
      this.current = undefined;
      this.isSent = this.halves.length > 0;
      this.number++;
      onProgress(this.progress);
    }
  }

  private async *partsInSource(): AsyncGenerator<Part, void, void> {
    const { rows } = this.options;
    if (rows) this.source = await inBytes(this.file, rows.encoding);
    yield* partsOf(this.source, this.format, this.limits, rows?.separator);
  }

  private halve({ start, end, records, readTo }: Part): void {
    const middle = Math.ceil(records.length / 2);
    const border = records[middle]?.start ?? end;
    this.limits.bytes = Math.min(this.limits.bytes, Math.ceil((end - start) / 2));
    this.current = { start, end: border, records: records.slice(0, middle), readTo: border };
    this.halves.unshift({ start: border, end, records: records.slice(middle), readTo });
  }

  private async next(): Promise<Part | undefined> {
    const half = this.halves.shift();
    if (half) return half;
    const { value, done } = await this.parts.next();
    if (done || !value) return undefined;
    if (this.format !== 'csv' || this.header) return value;
    const [header, ...records] = value.records;
    this.header = header;
    if (header) {
      const { rows } = this.options;
      const [bytes = new Uint8Array()] = await recordsIn(this.source, {
        ...header,
        records: [header],
        readTo: header.end,
      });
      this.names = rows
        ? rows.namesIn(bytes)
        : (cellsOf(new TextDecoder().decode(bytes)) ?? []).map((name = '') => name);
      this.columns = rows?.columns ?? this.names;
      this.failures.begin(this.names);
    }
    return { ...value, start: records[0]?.start ?? value.end, records };
  }

  private async importPart(part: Part, signal: AbortSignal): Promise<void> {
    const { key } = this.options;
    const isAgain = this.isSent;
    this.isSent = true;
    let results: ImportResult[] = [];
    const idempotencyKey = key && `${key}-${this.number}`;
    const options = { signal, ...(idempotencyKey !== undefined && { idempotencyKey }) };
    try {
      for await (const result of this.send(await this.bodyOf(part), options)) results.push(result);
    } catch (error) {
      // Such an error of the service comes before the first record.
      this.isSent = !(error instanceof CatalogueError) || error.code === 'unexpected_response';
      // A file that has changed fails as a lost connection does. To read it tells.
      await this.file.slice(0, 1).arrayBuffer();
      throw error;
    }
    if (results.length !== part.records.length)
      throw new TypeError(`The connection ended after ${results.length} of ${part.records.length} results`);
    results = results.map((result, at) => withProblem(result, this.sentRows?.[at]?.problem));
    if (isAgain) results = await this.withoutOwn(part, results, signal);
    if (results.some(({ error }) => error)) this.failures.add(await recordsIn(this.source, part), results);
    for (const [at, result] of results.entries()) {
      this.count(result);
      await this.options.onResult?.(this.records + at + 1, result, () => this.finding(part, at, result));
      const kept = this.keptIn(result);
      if (kept && kept.length < MAX_FINDINGS) kept.push(await this.finding(part, at, result));
    }
    this.counts.done = part.readTo;
    this.records += results.length;
  }

  /**
   * The results of a part that was sent again. What the lost attempt has done is no conflict with somebody else, although
   * the record has another version than the file.
   */
  private async withoutOwn(part: Part, results: readonly ImportResult[], signal: AbortSignal): Promise<ImportResult[]> {
    const { areDone } = this.options;
    if (!areDone) return [...results];
    const again = results.map(({ unchanged, ...result }) => ({
      ...result,
      ...(unchanged && { replayed: true }),
    }));
    const conflicts: Finding[] = [];
    for (const [at, result] of again.entries())
      if (isConflict(result)) conflicts.push(await this.finding(part, at, result));
    const done = conflicts.length > 0 ? await areDone(conflicts, signal) : [];
    const own = new Set(conflicts.filter((_, at) => done[at]).map(({ result }) => result));
    return again.map((result) => {
      const { error, ...done } = result;
      return error && own.has(result) ? { ...done, status: 200, replayed: true } : result;
    });
  }

  private async finding({ records }: Part, at: number, result: ImportResult): Promise<Finding> {
    const range = records[at];
    const row = this.sentRows?.[at];
    const text = row && row.problem === undefined ? row.text : range ? await this.textOf(range) : '';
    return { number: this.records + at + 1, record: { text, columns: this.columns }, result };
  }

  private textOf({ start, end }: Range): Promise<string> {
    return this.source.slice(start, end).text();
  }

  private async bodyOf(part: Part): Promise<Blob> {
    const { rows } = this.options;
    if (rows && this.header) {
      this.sentRows = (await recordsIn(this.source, part)).map((record) => rows.read(record, this.names));
      return new Blob([rows.header, ...this.sentRows.map(({ text }) => `\n${text}`)]);
    }
    const records = this.source.slice(part.start, part.end);
    if (!this.header) return records;
    return new Blob([this.source.slice(this.header.start, this.header.end), '\n', records]);
  }

  private count({ status, error, replayed, unchanged }: ImportResult): void {
    const { counts, refused } = this;
    if (error) refused.set(error.code, (refused.get(error.code) ?? 0) + 1);
    else if (replayed) counts.earlier++;
    else if (unchanged) counts.unchanged++;
    else if (status === 201) counts.created++;
    else if (status === 204) counts.deleted++;
    else counts.changed++;
  }

  /** Where a result is kept, if a person looks at it. */
  private keptIn(result: ImportResult): Finding[] | undefined {
    if (result.error) return isConflict(result) ? this.found.conflicts : this.found.refused;
    return result.status === 201 || result.unchanged || result.replayed ? undefined : this.found.changed;
  }
}

/** A record that is none in the file, with what is wrong there: the service got another row for it. */
function withProblem(result: ImportResult, problem: string | undefined): ImportResult {
  if (problem === undefined || !result.error) return result;
  return { ...result, error: { ...result.error, message: problem, details: [] } };
}

/** Whether a proxy, or the service, takes no body of this length. */
function isTooLong(error: unknown): boolean {
  return error instanceof CatalogueError && error.status === 413;
}

function isConflict({ status }: ImportResult): boolean {
  return status === 412;
}

/**
 * Runs an import, and waits when the rate limit is used up.
 * @param onWait called with the seconds of a wait, and with undefined after it
 */
export async function runPatiently(
  run: Pick<ImportRun, 'run'>,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
  onWait: (seconds: number | undefined) => void,
): Promise<void> {
  for (;;) {
    try {
      return await run.run(signal, onProgress);
    } catch (error) {
      const seconds = error instanceof CatalogueError ? error.retryAfterSeconds : undefined;
      if (signal.aborted || !(error instanceof CatalogueError) || error.status !== 429 || seconds === undefined)
        throw error;
      onWait(seconds);
      await sleep(seconds * 1_000, signal);
      onWait(undefined);
    }
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
