import { type FileHandle, open } from 'node:fs/promises';
import { EXIT_CODES } from '../../../../shared/exit-codes.js';
import { FileError } from './file-error.js';
import type { SourceFile, SourceRecord } from './source-file.js';

const FLUSHED_BYTES = 65_536;
const LINE_END = Buffer.from('\n');

/**
 * The refused records, in the format of their source, so that they can be corrected and sent. The file is empty if
 * nothing is refused.
 */
export class RefusedFile {
  private held: Buffer[] = [];
  private bytes = 0;
  private isEmpty = true;

  private constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
    private readonly source: SourceFile,
  ) {}

  /** @throws FileError if the file cannot be created, or is the source */
  static async create(path: string, source: SourceFile): Promise<RefusedFile> {
    const cannot = (error: unknown): never => {
      throw new FileError(path, error, EXIT_CODES.cannotCreate);
    };
    if (await source.isAt(path)) cannot(new Error('this file is read'));
    return new RefusedFile(path, await open(path, 'w').catch(cannot), source);
  }

  /** A record that is too long to be kept is left out. */
  async add(record: SourceRecord): Promise<void> {
    if (this.isEmpty && this.source.header) this.hold(this.source.header);
    this.isEmpty = false;
    this.hold(record);
    if (this.bytes >= FLUSHED_BYTES) await this.flush();
  }

  private hold(record: SourceRecord): void {
    if (!('bytes' in record)) return;
    this.held.push(record.bytes, LINE_END);
    this.bytes += record.bytes.length;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.handle.close();
  }

  private async flush(): Promise<void> {
    const bytes = Buffer.concat(this.held);
    this.held = [];
    this.bytes = 0;
    await this.handle.appendFile(bytes).catch((error) => {
      throw new FileError(this.path, error, EXIT_CODES.outputError);
    });
  }
}
