import { randomUUID } from 'node:crypto';
import { type FileHandle, link, lstat, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BackupTargetError } from '../../../application/ports/backup.js';

/**
 * A file that is written under a temporary name in the same folder, and gets its own name when it is complete. Only its
 * owner may read it. This class never opens or replaces an existing file, which SQLite could have open; see `connect`.
 */
export class AtomicFile {
  private constructor(
    private readonly target: string,
    readonly partial: string,
    private readonly handle: FileHandle,
  ) {}

  /**
   * @param target an absolute path
   * @throws BackupTargetError
   */
  static async create(target: string): Promise<AtomicFile> {
    const found = await orTargetError(lstat(target).catch(unlessMissing));
    if (found) throw exists(target);
    const partial = `${target}.${randomUUID()}.partial`;
    return new AtomicFile(target, partial, await orTargetError(open(partial, 'wx', 0o600)));
  }

  /** @throws BackupTargetError */
  async append(data: Buffer): Promise<void> {
    await orTargetError(this.handle.appendFile(data));
  }

  /**
   * Overwrites a part of the appended data, then synchronises the file with the disk.
   * @throws BackupTargetError
   */
  async finish({ data, offset }: { readonly data: Buffer; readonly offset: number }): Promise<void> {
    await orTargetError(this.handle.write(data, 0, data.length, offset));
    await orTargetError(this.handle.sync());
  }

  /**
   * Gives the file its name by a link. A rename would replace a file that another process created meanwhile.
   * @throws BackupTargetError
   */
  async publish(): Promise<void> {
    await orTargetError(
      link(this.partial, this.target).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'EEXIST' ? exists(this.target) : error;
      }),
    );
    const folder = await orTargetError(open(dirname(this.target), 'r'));
    await orTargetError(folder.sync()).finally(() => folder.close());
  }

  /** Deletes the temporary name. A published file remains. */
  async close(): Promise<void> {
    await this.handle.close();
    await rm(this.partial, { force: true });
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function exists(file: string): BackupTargetError {
  return new BackupTargetError(`The file ${file} exists. A backup replaces no file.`);
}

async function orTargetError<Result>(done: Promise<Result>): Promise<Result> {
  try {
    return await done;
  } catch (error) {
    if (error instanceof BackupTargetError) throw error;
    const { message } = error as Error;
    throw new BackupTargetError(`The backup cannot be written: ${message}`, { cause: error });
  }
}
