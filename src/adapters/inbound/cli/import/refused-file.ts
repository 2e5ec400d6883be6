import { isAscii } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, type FileHandle, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, parse } from 'node:path';
import { EXIT_CODES } from '../../../../shared/program.js';
import { digestOf, fileError, namelessFile, type SourceFile, type SourceRecord } from './source-file.js';

const FLUSHED_BYTES = 65_536;
const LINE_END = Buffer.from('\n');
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const NOT_OWN =
  'no import wrote this file, or it was edited and not imported since; import it if it has corrected lines, ' +
  'else move it away, or name another file with --refused';

/** Returns `NAME.refused.EXT` beside a file. */
export function besideSource(source: string): string {
  const { dir, name, ext } = parse(source);
  return join(dir, `${name}.refused${ext}`);
}

/**
 * The refused records and what precedes the first record of their source, so that they can be corrected and imported.
 *
 * They are collected in a file without a name, which is gone when the process ends; only {@link finish} changes the file
 * of this name. A hidden file beside it, its seal, has the SHA-256 of what imports wrote. A file whose seal lacks its
 * digest is not replaced: the command did not make it, or somebody has corrected lines in it.
 */
export class RefusedFile {
  private held: Uint8Array[] = [];
  private heldBytes = 0;
  private isEmpty = true;
  private hasOnlyAscii = true;

  private constructor(
    private readonly path: string,
    private readonly spool: FileHandle,
    private readonly source: SourceFile,
  ) {}

  /** @throws CommandError if the file cannot be created, is the source, or is not to be replaced */
  static async at(path: string, source: SourceFile): Promise<RefusedFile> {
    try {
      if (await source.isAt(path)) throw new Error('this file is read');
      const target = await realpath(path).catch(() => path);
      await requireOwn(target);
      // In the folder of the file, which shows that one can be created there.
      const spool = await namelessFile((await isDevice(target)) ? tmpdir() : dirname(target));
      return new RefusedFile(target, spool, source);
    } catch (error) {
      throw fileError(path, error, EXIT_CODES.cannotCreate);
    }
  }

  async add(record: SourceRecord): Promise<void> {
    if (this.isEmpty && this.source.header) this.hold(this.source.header);
    this.isEmpty = false;
    this.hold(record);
    if (this.heldBytes >= FLUSHED_BYTES) await this.flush();
  }

  /**
   * Writes the file if it has a record. Else removes the one that an earlier import wrote: it is not to be imported next.
   * @throws CommandError
   */
  async finish(): Promise<void> {
    await this.flush();
    await this.writing(async () => {
      const { path } = this;
      await requireOwn(path);
      if (!this.isEmpty) await this.write();
      else if (await isSealed(path)) for (const file of [path, sealOf(path)]) await rm(file, { force: true });
    });
  }

  close(): Promise<void> {
    return this.spool.close();
  }

  /** A record that is too long to be kept is left out. */
  private hold(record: SourceRecord): void {
    if (!('bytes' in record)) return;
    this.held.push(record.bytes, LINE_END);
    this.heldBytes += record.bytes.length;
  }

  private async flush(): Promise<void> {
    const bytes = Buffer.concat(this.held);
    this.held = [];
    this.heldBytes = 0;
    this.hasOnlyAscii &&= isAscii(bytes);
    await this.writing(() => this.spool.appendFile(bytes));
  }

  private async write(): Promise<void> {
    const { path, source } = this;
    const preface = await source.preface();
    // Spreadsheets need the mark to read other characters.
    const isMarked = preface.indexOf(BYTE_ORDER_MARK) === 0;
    const first = isMarked && this.hasOnlyAscii ? preface.subarray(BYTE_ORDER_MARK.length) : preface;
    if (await isDevice(path)) return writeFile(path, this.content(first));
    const digests = [await digestOf(this.content(first))];
    // Until the file is replaced, its seal is that of both. It may have been moved away.
    if (await exists(path)) digests.push(await digestOf(createReadStream(path)));
    await replace(sealOf(path), digests.join('\n'), 0o600);
    await replace(path, this.content(first), await source.mode());
  }

  private async *content(first: Buffer): AsyncGenerator<Buffer, void, void> {
    yield first;
    yield* this.spool.createReadStream({ start: 0, autoClose: false });
  }

  private async writing(write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      throw fileError(this.path, error, EXIT_CODES.outputError);
    }
  }
}

/** Whether an import wrote this file, perhaps with other content. */
export function isSealed(path: string): Promise<boolean> {
  return exists(sealOf(path));
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Lets imports replace a file that one wrote and somebody has edited, because it is imported.
 * @param digest of what was imported
 */
export function releaseSealed(path: string, digest: string): Promise<void> {
  return replace(sealOf(path), digest, 0o600);
}

function sealOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.sha256`);
}

/** An empty file has nothing to lose. */
async function requireOwn(path: string): Promise<void> {
  const size = await stat(path).then(
    (stats) => (stats.isFile() ? stats.size : 0),
    () => 0,
  );
  if (size === 0) return;
  const seal = (await isSealed(path)) ? await readFile(sealOf(path), 'utf8') : '';
  if (!seal.split('\n').includes(await digestOf(createReadStream(path)))) throw new Error(NOT_OWN);
}

/** Whether a path leads to something else than a file, such as `/dev/null`. */
async function isDevice(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isDirectory()) throw new Error('it is a folder');
  return stats !== undefined && !stats.isFile();
}

/** Writes a file of which there is, at any moment, the old one or the new one. */
async function replace(path: string, content: string | AsyncIterable<Buffer>, mode: number): Promise<void> {
  const temporary = join(dirname(path), `.catalogue-${randomUUID()}`);
  try {
    await writeFile(temporary, content, { flag: 'wx', mode, flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
