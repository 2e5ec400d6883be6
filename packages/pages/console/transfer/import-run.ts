import { CatalogueError, type ImportResult } from '#packages/client/index.js';
import { FailedRecords, withoutError } from './failed-records.js';
import type { Finding } from './file-changes.js';
import { LIMITS, type Part, type PartLimits, partsOf } from './files.js';
import { csvRow, type RowReader, textIn } from './reading.js';

/** What an import has done so far, or would do. */
export interface Progress {
  /** How much of the file is done, from 0 to 1. */
  readonly share: number;
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
  readonly created: readonly Finding[];
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
  /** How CSV is read. Absent: the file is NDJSON. */
  readonly rows?: RowReader | undefined;
  /** Tells which records are as the file says. It finds out what an attempt has done whose results were lost. */
  readonly areDone?: ((records: readonly Finding[], signal: AbortSignal) => Promise<readonly boolean[]>) | undefined;
  /** Called once for each record in the order of the file. */
  readonly onResult?: ((finding: Finding) => void) | undefined;
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
  private readonly counts = { share: 0, created: 0, changed: 0, unchanged: 0, deleted: 0, earlier: 0 };
  private readonly refused = new Map<string, number>();
  private readonly found: Record<keyof Findings, Finding[]> = { created: [], changed: [], conflicts: [], refused: [] };
  private readonly failures: FailedRecords;
  private readonly limits: { -readonly [name in keyof PartLimits]: number };
  private readonly parts: AsyncGenerator<Part, void, void>;
  /** The part that is not done yet, or what is left of its halves. */
  private readonly waiting: Part[] = [];
  /** Whether an attempt, or a proxy that found the whole part too long, may have done some of what waits. */
  private isSent = false;
  private number = 0;
  private records = 0;

  constructor(
    file: File,
    private readonly send: Send,
    private readonly options: RunOptions = {},
  ) {
    const { rows, limits = LIMITS } = options;
    this.limits = { ...limits };
    this.parts = partsOf(file, rows?.reading, this.limits);
    this.failures = new FailedRecords(file, rows);
  }

  get progress(): Progress {
    return { ...this.counts, refused: new Map(this.refused) };
  }

  get findings(): Findings {
    return this.found;
  }

  /** The numbers of the first and the last record that an attempt may have done without a result; undefined: of none. */
  get doubtful(): readonly [first: number, last: number] | undefined {
    const count = this.waiting.reduce((sum, { records }) => sum + records.length, 0);
    return this.isSent && count > 0 ? [this.records + 1, this.records + count] : undefined;
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
      const part = this.waiting[0] ?? (await this.parts.next()).value;
      if (!part) return;
      this.waiting[0] = part;
      signal.throwIfAborted();
      try {
        await this.importPart(part, signal);
      } catch (error) {
        if (!isTooLong(error) || part.records.length < 2) throw error;
        this.halve(part);
        continue;
      }
      this.waiting.shift();
      this.isSent = this.waiting.length > 0;
      this.number++;
      onProgress(this.progress);
    }
  }

  private halve(part: Part): void {
    const middle = Math.ceil(part.records.length / 2);
    const bytes = Math.ceil(part.bytes / 2);
    this.limits.bytes = Math.min(this.limits.bytes, bytes);
    const first = { records: part.records.slice(0, middle), bytes, share: this.counts.share };
    this.waiting.splice(0, 1, first, { ...part, records: part.records.slice(middle), bytes });
  }

  private async importPart({ records, share }: Part, signal: AbortSignal): Promise<void> {
    const { key, rows, onResult } = this.options;
    const read = rows && records.map((record) => rows.read(record));
    const body = read
      ? [csvRow(rows.columns), ...read.map(({ text }) => `\n${text}`)]
      : records.flatMap((record) => [withoutError(record), '\n']);
    const isAgain = this.isSent;
    this.isSent = true;
    const results: ImportResult[] = [];
    const options = { signal, ...(key !== undefined && { idempotencyKey: `${key}-${this.number}` }) };
    try {
      for await (const result of this.send(new Blob(body), options)) results.push(result);
    } catch (error) {
      // Such an error of the service comes before the first record.
      this.isSent = isAgain || !(error instanceof CatalogueError) || error.code === 'unexpected_response';
      throw error;
    }
    if (results.length !== records.length)
      throw new TypeError(`The connection ended after ${results.length} of ${records.length} results`);
    const all = records.map((record, at): Finding => {
      const { text, problem } = read?.[at] ?? { text: textIn(record) };
      const result = results[at] as ImportResult;
      const number = this.records + at + 1;
      if (problem === undefined || !result.error) return { number, record: { text, columns: rows?.columns }, result };
      // The service got another row for a record that is none in the file.
      const error = { ...result.error, message: problem, details: [] };
      const original = { text: textIn(record, rows?.reading.encoding), columns: rows?.columns };
      return { number, record: original, result: { ...result, error } };
    });
    const findings = isAgain ? await this.withoutOwn(all, signal) : all;
    this.failures.add(
      records,
      findings.map(({ result }) => result),
    );
    for (const finding of findings) {
      this.count(finding);
      onResult?.(finding);
    }
    this.counts.share = share;
    this.records += records.length;
  }

  /**
   * The results of a part that was sent again. What the lost attempt has done is no conflict with somebody else, although
   * the record has another version than the file.
   */
  private async withoutOwn(findings: readonly Finding[], signal: AbortSignal): Promise<readonly Finding[]> {
    const { areDone } = this.options;
    if (!areDone) return findings;
    const conflicts = findings.filter(isConflict);
    const done = conflicts.length > 0 ? await areDone(conflicts, signal) : [];
    const own = new Set(conflicts.filter((_, at) => done[at]));
    return findings.map((finding) => {
      const { error, unchanged, ...result } = finding.result;
      if (own.has(finding)) return { ...finding, result: { ...result, status: 200, replayed: true } };
      return unchanged ? { ...finding, result: { ...result, replayed: true } } : finding;
    });
  }

  /** Counts a result, and keeps it if a person looks at it. */
  private count(finding: Finding): void {
    const { status, error, replayed, unchanged } = finding.result;
    const keep = (kept: Finding[]) => kept.length < MAX_FINDINGS && kept.push(finding);
    if (error) {
      this.refused.set(error.code, (this.refused.get(error.code) ?? 0) + 1);
      keep(isConflict(finding) ? this.found.conflicts : this.found.refused);
    } else if (replayed) this.counts.earlier++;
    else if (unchanged) this.counts.unchanged++;
    else {
      this.counts[status === 201 ? 'created' : status === 204 ? 'deleted' : 'changed']++;
      keep(status === 201 ? this.found.created : this.found.changed);
    }
  }
}

/** Whether a check has found anything to write. */
export function hasEffect(progress: Progress | undefined): boolean {
  return progress !== undefined && progress.created + progress.changed + progress.deleted > 0;
}

export function refusedIn(progress: Progress | undefined): number {
  return [...(progress?.refused.values() ?? [])].reduce((sum, count) => sum + count, 0);
}

/** Whether a proxy, or the service, takes no body of this length. */
function isTooLong(error: unknown): boolean {
  return error instanceof CatalogueError && error.status === 413;
}

function isConflict({ result }: Finding): boolean {
  return result.status === 412;
}
