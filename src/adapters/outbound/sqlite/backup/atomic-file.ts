import { randomUUID } from 'node:crypto';
import { type FileHandle, link, lstat, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BackupTargetError } from '../../../../application/ports/backup.js';
import { systemReason } from '../../../../shared/system-reason.js';

const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** How file systems without hard links refuse one: FAT and CIFS, FUSE, and others by POSIX. */
const LACKS_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** The user and the group that a file belongs to. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * A file that is written under a temporary name in the same folder, and gets its own name when it is complete. Only its
 * owner may read it. This class never opens an existing file, which SQLite could have open; see `connect`.
 */
export class AtomicFile {
  private constructor(
    private readonly target: string,
    readonly partial: string,
    private readonly handle: FileHandle,
  ) {}

  /**
   * Removes what a killed process left of this target first. If another process makes the same target now, that one
   * fails at its next step.
   * @param target an absolute path
   * @throws BackupTargetError
   */
  static async create(target: string): Promise<AtomicFile> {
    const found = await orTargetError(lstat(target).catch(unlessMissing), target);
    if (found) throw exists(target);
    await orTargetError(removePartials(target), target);
    return AtomicFile.createForReplace(target);
  }

  /**
   * As {@link create}, but the target may exist, for {@link replace}.
   * @throws BackupTargetError
   */
  static async createForReplace(target: string): Promise<AtomicFile> {
    const partial = `${target}.${randomUUID()}.partial`;
    return new AtomicFile(target, partial, await orTargetError(open(partial, 'wx', 0o600), target));
  }

  /**
   * Removes what {@link replace} leaves behind if the process is killed: unfinished files, and second names of the
   * target. Nobody else may write or replace the target meanwhile.
   */
  static async removeLeftovers(target: string): Promise<void> {
    await removePartials(target);
    const [folder, name] = [dirname(target), basename(target)];
    for (const entry of await readdir(folder)) {
      if (!entry.startsWith(REPLACED)) continue;
      const second = join(folder, entry, name);
      if (await isSameFile(second, target)) await rm(second);
      // Only an empty folder goes.
      await rmdir(join(folder, entry)).catch(() => {});
    }
  }

  /** Removes the target, which nobody else may write or replace meanwhile. If it cannot be removed, it stays. */
  static async remove(target: string): Promise<void> {
    await rm(target, { force: true }).catch(() => {});
  }

  /** @throws BackupTargetError */
  async append(data: Buffer): Promise<void> {
    await this.orTargetError(this.requirePartial());
    await this.orTargetError(this.handle.appendFile(data));
  }

  /**
   * Overwrites a part of the appended data, then synchronises the file with the disk.
   * @throws BackupTargetError
   */
  async finish({ data, offset }: { readonly data: Buffer; readonly offset: number }): Promise<void> {
    await this.orTargetError(this.handle.write(data, 0, data.length, offset));
    await this.orTargetError(this.handle.sync());
  }

  /**
   * Gives the file its name by a link. A rename would replace a file that another process created meanwhile. Where a
   * file system has no links, an empty file takes the name first, which nobody else can create then, and is renamed
   * over; if the process is killed between the two, the empty file remains.
   * @throws BackupTargetError
   */
  async publish(): Promise<void> {
    await this.orTargetError(this.requirePartial());
    await this.orTargetError(
      link(this.partial, this.target)
        .catch((error: NodeJS.ErrnoException) => {
          if (!LACKS_LINKS.includes(error.code ?? '')) throw error;
          return this.renameExclusively();
        })
        .catch((error: NodeJS.ErrnoException) => {
          throw error.code === 'EEXIST' ? exists(this.target) : error;
        }),
    );
    await this.orTargetError(syncFolder(dirname(this.target)));
  }

  private async renameExclusively(): Promise<void> {
    const { partial, target } = this;
    await (await open(target, 'wx', 0o600)).close();
    try {
      await rename(partial, target);
    } catch (error) {
      await rm(target);
      throw error;
    }
  }

  /**
   * Gives the file its name as {@link publish} does, but a target that another process created meanwhile stays.
   * @param sidecars the other files of the target, which move to a new folder beside it before
   * @returns the folder; undefined if there was no other file
   * @throws BackupTargetError
   */
  async publishIfAbsent(now: Date, sidecars: readonly string[]): Promise<string | undefined> {
    return this.orTargetError(
      (async () => {
        const aside = sidecars.length > 0 ? await this.moveAside(now, sidecars) : undefined;
        await link(this.partial, this.target).catch(unlessExists);
        return aside;
      })(),
    );
  }

  /** Gives the file an owner. Only root may do that. */
  async giveTo({ uid, gid }: Owner): Promise<void> {
    await this.orTargetError(this.handle.chown(uid, gid));
  }

  /**
   * Replaces the target. At every instant, the target is the whole old file or the whole new one. Nobody else may write
   * or replace it meanwhile.
   * @param keeps whether the old file stays under its name in a new folder beside it
   * @param sidecars the other files of the target, which move to that folder before
   * @returns the folder; undefined if none was needed
   * @throws BackupTargetError
   */
  async replace(now: Date, keeps: boolean, sidecars: readonly string[]): Promise<string | undefined> {
    const { target } = this;
    return this.orTargetError(
      (async () => {
        const aside = keeps || sidecars.length > 0 ? await this.moveAside(now, sidecars) : undefined;
        if (aside && keeps) {
          await link(target, join(aside, basename(target)));
          await syncFolder(aside);
        }
        await rename(this.partial, target);
        await syncFolder(dirname(target));
        return aside;
      })(),
    );
  }

  /** Moves other files of the target to a new folder beside it, which it returns. */
  private async moveAside(now: Date, sidecars: readonly string[]): Promise<string> {
    const folder = dirname(this.target);
    const aside = join(folder, `${REPLACED}${now.toISOString().replaceAll(':', '')}`);
    await mkdir(aside, { mode: 0o700 });
    for (const file of sidecars) await rename(file, join(aside, basename(file)));
    await syncFolder(aside);
    await syncFolder(folder);
    return aside;
  }

  /** @throws BackupTargetError if the partial file was deleted: what is written goes into a file without a name */
  private async requirePartial(): Promise<void> {
    if ((await this.handle.stat()).nlink > 0) return;
    throw new BackupTargetError(
      `${this.target} cannot be written: its partial file was deleted, as another backup to it does.`,
    );
  }

  private orTargetError<Result>(done: Promise<Result>): Promise<Result> {
    return orTargetError(done, this.target);
  }

  /** Deletes the temporary name. A published file remains. */
  async close(): Promise<void> {
    await this.handle.close();
    await rm(this.partial, { force: true });
  }
}

/** The beginning of the names of folders with replaced files. */
const REPLACED = 'replaced-';

async function removePartials(target: string): Promise<void> {
  const [folder, name] = [dirname(target), basename(target)];
  const partial = new RegExp(`^${UUID}\\.partial$`);
  for (const entry of await readdir(folder)) {
    if (entry.startsWith(`${name}.`) && partial.test(entry.slice(name.length + 1)))
      await rm(join(folder, entry), { force: true });
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r'); // a folder
  await folder.sync().finally(() => folder.close());
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((file) => lstat(file).catch(unlessMissing)));
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}

function exists(file: string): BackupTargetError {
  return new BackupTargetError(`The file ${file} exists. A backup replaces no file.`);
}

async function orTargetError<Result>(done: Promise<Result>, target: string): Promise<Result> {
  try {
    return await done;
  } catch (error) {
    if (error instanceof BackupTargetError) throw error;
    throw new BackupTargetError(`${target} cannot be written: ${systemReason(error)}.`, { cause: error });
  }
}
