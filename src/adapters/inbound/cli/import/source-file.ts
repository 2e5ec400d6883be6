import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { EXIT_CODES } from '../../../../shared/program.js';
import { CsvSplitter, type ImportLine, NdjsonSplitter } from '../../../../shared/record-splitters.js';
import { systemReason } from '../../../../shared/shown-text.js';
import { CommandError } from '../io.js';

/** The error of a file of the command line that cannot be read or written. */
export function fileError(file: string, cause: unknown, exitCode: number): CommandError {
  return new CommandError(`${file}: ${systemReason(cause)}`, exitCode, { cause });
}

export const FORMATS = {
  ndjson: { type: 'application/x-ndjson', endings: ['.ndjson', '.jsonl'], splitter: NdjsonSplitter },
  csv: { type: 'text/csv', endings: ['.csv'], splitter: CsvSplitter },
} as const;

export type Format = keyof typeof FORMATS;

/** The format of a file by its name; undefined if the name does not tell. */
export function formatOf(file: string): Format | undefined {
  const name = file.toLowerCase();
  return (Object.keys(FORMATS) as Format[]).find((format) =>
    FORMATS[format].endings.some((ending) => name.endsWith(ending)),
  );
}

/** A longer record is not kept. The service takes records of 1 MiB by default. */
const MAX_RECORD_BYTES = 16 * 1_048_576;
const LINE_FEED = 0x0a;

/** A record of a file, or the header row of CSV, whose number is 0. */
export type SourceRecord = ImportLine & {
  /** The line of the file where it ends, counted from 1. */
  readonly lastLine: number;
};

/** The line of the file where a record begins, counted from 1. */
export function firstLine(record: SourceRecord): number {
  const text = 'bytes' in record ? Buffer.from(record.bytes).toString('latin1') : '';
  return record.lastLine - (text.split('\n').length - 1);
}

/**
 * A file of records. It is read in pieces, as often as needed: to send it, and once more beside the results, which can
 * come late, so that no record waits in memory for its result.
 */
export class SourceFile {
  /** How many bytes {@link records} has read. */
  position = 0;
  /** The header row of CSV, as soon as {@link records} has read it. */
  header: SourceRecord | undefined;
  /** The length of what precedes the header row, in bytes. */
  private prefaceBytes = 0;

  private constructor(
    private readonly handle: FileHandle,
    private readonly format: Format,
    /** In bytes. */
    readonly size: number,
    /** Whether it has a name, and can be read again by another command. */
    readonly isNamed: boolean,
  ) {}

  /**
   * Opens a file. What can be read only once, such as standard input, is first copied to a temporary file, which is
   * gone when the process ends.
   * @param path `-` is standard input
   * @param onCopied called with the number of bytes copied so far
   * @throws CommandError
   */
  static async open(path: string, format: Format, onCopied: (bytes: number) => void): Promise<SourceFile> {
    const isInput = path === '-';
    const handle = isInput
      ? undefined
      : await open(path).catch((error) => {
          throw fileError(path, error, EXIT_CODES.noInput);
        });
    const stats = await handle?.stat();
    if (handle && stats?.isFile()) return new SourceFile(handle, format, stats.size, true);
    const input = handle?.createReadStream() ?? process.stdin;
    const copy = await copied(isInput ? 'standard input' : path, input, onCopied);
    return new SourceFile(copy, format, (await copy.stat()).size, false);
  }

  /** The bytes of the file. An error of the disk breaks them off. */
  bytes(): Readable {
    if (this.size === 0) return Readable.from([]);
    return this.handle.createReadStream({ start: 0, end: this.size - 1, autoClose: false });
  }

  /** What precedes the header row of CSV, such as a byte order mark and a line `sep=,`. */
  async preface(): Promise<Buffer> {
    const { buffer } = await this.handle.read(Buffer.alloc(this.prefaceBytes), 0, this.prefaceBytes, 0);
    return buffer;
  }

  /** The permissions to read and write it, as bits: chmod(2). */
  async mode(): Promise<number> {
    return (await this.handle.stat()).mode & 0o666;
  }

  /** The records as the service counts them, without the header row. */
  async *records(): AsyncGenerator<SourceRecord, void, void> {
    for await (const record of this.rows())
      if (record.number > 0) yield record;
      else {
        this.header = record;
        // It ends with a line feed, if a record follows.
        if ('bytes' in record) this.prefaceBytes = Math.max(0, this.position - record.bytes.length - 1);
      }
  }

  private async *rows(): AsyncGenerator<SourceRecord, void, void> {
    const splitter = new FORMATS[this.format].splitter(MAX_RECORD_BYTES);
    let lines = 1;
    for await (const chunk of this.bytes() as AsyncIterable<Buffer>) {
      for (let start = 0; start < chunk.length; ) {
        const end = chunk.indexOf(LINE_FEED, start) + 1 || chunk.length;
        this.position += end - start;
        for (const record of splitter.push(chunk.subarray(start, end))) yield { ...record, lastLine: lines };
        if (chunk[end - 1] === LINE_FEED) lines++;
        start = end;
      }
    }
    for (const record of splitter.end()) yield { ...record, lastLine: lines };
  }

  /** Whether a path leads to this file. */
  async isAt(path: string): Promise<boolean> {
    const own = await this.handle.stat();
    const other = await stat(path).catch(() => undefined);
    return own.dev === other?.dev && own.ino === other.ino;
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

/** Opens a new file without a name, which is gone when the process ends. */
export async function namelessFile(folder: string): Promise<FileHandle> {
  const path = join(folder, `.catalogue-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

/** Copies what can be read only once to a file without a name. */
async function copied(
  name: string,
  input: AsyncIterable<Buffer>,
  onCopied: (bytes: number) => void,
): Promise<FileHandle> {
  const notWritten = (error: unknown): never => {
    throw fileError(tmpdir(), error, EXIT_CODES.outputError);
  };
  const file = await namelessFile(tmpdir()).catch(notWritten);
  try {
    let bytes = 0;
    for await (const chunk of input) {
      await file.appendFile(chunk).catch(notWritten);
      bytes += chunk.length;
      onCopied(bytes);
    }
    return file;
  } catch (error) {
    await file.close();
    throw error instanceof CommandError ? error : fileError(name, error, EXIT_CODES.noInput);
  }
}

/** The SHA-256 of bytes, in hexadecimal digits. */
export async function digestOf(content: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of content) hash.update(chunk);
  return hash.digest('hex');
}
