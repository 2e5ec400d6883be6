import type { ImportResult } from '#packages/client/index.js';
import { FailedRecords } from './failed-records.js';
import { type Format, type Part, partsOf, type Range } from './records-in-file.js';

/** What an import has done so far. */
export interface Progress {
  /** Bytes of the file. */
  readonly done: number;
  readonly total: number;
  readonly created: number;
  /** Created by an earlier attempt, whose results were lost. */
  readonly existing: number;
  /** How many records were refused, by the code of the error. */
  readonly refused: ReadonlyMap<string, number>;
}

/** Sends records, and yields the result of each in order. */
export type Send = (
  body: Blob,
  options: { readonly idempotencyKey: string; readonly signal: AbortSignal },
) => AsyncIterable<ImportResult>;

/**
 * The import of one file, in parts of about a megabyte. A browser sends a request whole before it reads the response
 * (HTTP/1.1), so one request for the whole file would show no progress. Each part keeps an idempotency key of its own,
 * so a part whose response was lost can be sent again and creates nothing twice.
 */
export class ImportRun {
  private readonly counts = { done: 0, created: 0, existing: 0, refused: new Map<string, number>() };
  private readonly failures: FailedRecords;
  private readonly parts: AsyncGenerator<Part, void, void>;
  private header: Range | undefined;
  /** The part that is not done yet. */
  private current: Part | undefined;
  private number = 0;

  /** @param key random, one for each file that a person chooses */
  constructor(
    private readonly file: File,
    private readonly format: Format,
    private readonly key: string,
    private readonly send: Send,
  ) {
    this.parts = partsOf(file, format);
    this.failures = new FailedRecords(file, format);
  }

  get progress(): Progress {
    return { ...this.counts, refused: new Map(this.counts.refused), total: this.file.size };
  }

  /** A file of the records that were refused, with their errors. */
  get refusedFile(): File {
    return this.failures.asFile();
  }

  /**
   * Imports what is left of the file. After an error it can be called again, and continues with the same part.
   * @throws CatalogueError, TypeError if the connection is lost, the reason of the signal
   */
  async run(signal: AbortSignal, onProgress: (progress: Progress) => void): Promise<void> {
    for (;;) {
      this.current ??= await this.next();
      if (!this.current) return;
      signal.throwIfAborted();
      await this.importPart(this.current, signal);
      this.current = undefined;
      this.number++;
      onProgress(this.progress);
    }
  }

  private async next(): Promise<Part | undefined> {
    const { value, done } = await this.parts.next();
    if (done || !value) return undefined;
    if (this.format !== 'csv' || this.header) return value;
    const [header, ...records] = value.records;
    this.header = header;
    if (header) await this.failures.begin(header);
    return { ...value, start: records[0]?.start ?? value.end, records };
  }

  private async importPart(part: Part, signal: AbortSignal): Promise<void> {
    const results: ImportResult[] = [];
    const idempotencyKey = `${this.key}-${this.number}`;
    for await (const result of this.send(this.bodyOf(part), { idempotencyKey, signal })) results.push(result);
    if (results.length !== part.records.length)
      throw new TypeError(`The connection ended after ${results.length} of ${part.records.length} results`);
    await this.failures.add(part, results);
    for (const result of results) this.count(result);
    this.counts.done = part.end;
  }

  private bodyOf({ start, end }: Part): Blob {
    const records = this.file.slice(start, end);
    if (!this.header) return records;
    const header = this.file.slice(this.header.start, this.header.end);
    return new Blob([header, '\n', records]);
  }

  private count(result: ImportResult): void {
    const { counts } = this;
    if (result.error) counts.refused.set(result.error.code, (counts.refused.get(result.error.code) ?? 0) + 1);
    else if (result.replayed) counts.existing++;
    else counts.created++;
  }
}
