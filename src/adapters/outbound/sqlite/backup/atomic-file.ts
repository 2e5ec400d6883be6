import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BackupTargetError } from '../../../../application/ports/store.js';
import { systemReason } from '../../../../shared/shown-text.js';

const PARTIAL = /^\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.partial$/;

/** The beginning of the names of folders with replaced files. */
const REPLACED = 'replaced-';

/** Files that SQLite would take for those of a new database of the same name. */
const SUFFIXES = ['-wal', '-shm', '-journal'];

/** How file systems without hard links refuse one: FAT and CIFS, FUSE, and others by POSIX. */
const LACKS_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** The user and the group that a file belongs to. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * A file that is written under a temporary name in the same folder, and gets its own name when it is complete. Only its
 * owner may read it. This class never opens an existing file, which SQLite could have open; see `connect`. Errors of the
 * file system pass through, for {@link orTargetError}.
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
   * @throws BackupTargetError if the target exists
   */
  static async create(target: string): Promise<AtomicFile> {
    if (await lstat(target).catch(unlessMissing)) throw exists(target);
    await removePartials(target);
    return AtomicFile.createForReplace(target);
  }

  /**
   * As {@link create}, but the target may exist, for {@link replace}.
   * @param owner who gets the file; only root may give it away
   */
  static async createForReplace(target: string, owner?: Owner): Promise<AtomicFile> {
    const partial = `${target}.${randomUUID()}.partial`;
    const file = new AtomicFile(target, partial, await open(partial, 'wx', 0o600));
    if (owner) await file.handle.chown(owner.uid, owner.gid);
    return file;
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
    await rm(target).catch(() => {});
  }

  /** @throws BackupTargetError if another backup deleted the partial file */
  async append(data: Buffer): Promise<void> {
    await this.requirePartial();
    await this.handle.appendFile(data);
  }

  /** Overwrites a part of the appended data, then synchronises the file with the disk. */
  async finish({ data, offset }: { readonly data: Buffer; readonly offset: number }): Promise<void> {
    await this.handle.write(data, 0, data.length, offset);
    await this.handle.sync();
  }

  /** @throws BackupTargetError if the target exists, or another backup deleted the partial file */
  async publish(): Promise<void> {
    await this.requirePartial();
    if (!(await this.takesName())) throw exists(this.target);
  }

  /**
   * Gives the file its name by a link. A rename would replace a file that another process created meanwhile. Where a
   * file system has no links, an empty file takes the name first, which nobody else can create then, and is renamed
   * over; if the process is killed between the two, the empty file remains.
   * @returns false if the target exists
   */
  private async takesName(): Promise<boolean> {
    const { partial, target } = this;
    try {
      await link(partial, target).catch(async (error: NodeJS.ErrnoException) => {
        if (!LACKS_LINKS.includes(error.code ?? '')) throw error;
        await (await open(target, 'wx', 0o600)).close();
        await rename(partial, target).catch(async (failure: unknown) => {
          await rm(target);
          throw failure;
        });
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
    await syncFolder(dirname(target));
    return true;
  }

  /**
   * Gives the file its name, unless another process created the target meanwhile. Files of an earlier database move to
   * a new folder beside it before, because SQLite would take them for those of this one.
   * @returns the folder; undefined if there was no such file
   */
  async publishIfAbsent(now: Date): Promise<string | undefined> {
    const aside = await this.moveSidecars(now);
    await this.takesName();
    return aside;
  }

  /**
   * Replaces the target. At every instant, the target is the whole old file or the whole new one. Nobody else may write
   * or replace it meanwhile. Files of an earlier database move away as in {@link publishIfAbsent}.
   * @param keeps whether the old file stays under its name in a new folder beside it
   * @returns the folder; undefined if none was needed
   */
  async replace(now: Date, keeps: boolean): Promise<string | undefined> {
    const { target } = this;
    const aside = await this.moveSidecars(now, keeps);
    if (aside && keeps) {
      await link(target, join(aside, basename(target)));
      await syncFolder(aside);
    }
    await rename(this.partial, target);
    await syncFolder(dirname(target));
    return aside;
  }

  private async moveSidecars(now: Date, isFolderNeeded = false): Promise<string | undefined> {
    const sidecars = SUFFIXES.map((suffix) => this.target + suffix).filter((file) => existsSync(file));
    if (sidecars.length === 0 && !isFolderNeeded) return undefined;
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

  /** Deletes the temporary name. A published file remains. */
  async close(): Promise<void> {
    await this.handle.close();
    await rm(this.partial, { force: true });
  }
}

/** @throws BackupTargetError instead of an error of the file system */
export async function orTargetError<Result>(target: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new BackupTargetError(`${target} cannot be written: ${systemReason(error)}.`, { cause: error });
  }
}

async function removePartials(target: string): Promise<void> {
  const [folder, name] = [dirname(target), basename(target)];
  for (const entry of await readdir(folder)) {
    if (entry.startsWith(name) && PARTIAL.test(entry.slice(name.length)))
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

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}

function exists(file: string): BackupTargetError {
  return new BackupTargetError(`The file ${file} exists. A backup replaces no file.`);
}
