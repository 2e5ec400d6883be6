import { type BigIntStats, existsSync, mkdirSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreConfigError } from '../../../../application/ports/store.js';
import { unavailable } from '../../../../domain/errors.js';

/** The write-ahead log, and the shared memory with its index and its locks. */
const SUFFIXES = ['-wal', '-shm'];

/**
 * The files that SQLite has open, by device and inode. If one of them is deleted, moved or replaced, SQLite does not
 * notice, and the next start does not see its later writes. While this process has a file open, no other file gets its
 * inode. A database that became smaller was overwritten, for instance by `cp`: SQLite only lets it grow. This class
 * never opens the files; see `connect`.
 */
export class OpenFiles {
  private areLost = false;
  private databaseBytes = 0;

  private constructor(
    private readonly database: string,
    private readonly identities: ReadonlyMap<string, string | undefined>,
    private readonly report: (files: readonly string[]) => void,
  ) {}

  /**
   * Records the files of a database that SQLite has just opened.
   * @param before `identityOf` the database before it was opened; undefined if SQLite had to create it
   * @param report called once, with the files that are no longer in place
   * @throws AppError `unavailable` if the database was deleted or replaced meanwhile
   */
  static record(database: string, before: string | undefined, report: (files: readonly string[]) => void): OpenFiles {
    const opened = identityOf(database);
    if (opened === undefined || (before !== undefined && before !== opened))
      throw unavailable(`The file ${database} was deleted or replaced while it was opened.`);
    // SQLite follows links, and names the other files after the target.
    const paths = [database, ...SUFFIXES.map((suffix) => realpathSync(database) + suffix)];
    const files = new OpenFiles(database, new Map(paths.map((path) => [path, identityOf(path)])), report);
    files.currentIdentity(database);
    return files;
  }

  /** Whether all files are in place. After the first `false` always `false`: writes may have been lost meanwhile. */
  areUnchanged(): boolean {
    if (this.areLost) return false;
    const lost = [...this.identities].filter(
      ([path, identity]) => identity === undefined || identity !== this.currentIdentity(path),
    );
    if (lost.length === 0) return true;
    this.markLost(lost.map(([path]) => path));
    return false;
  }

  /** Makes {@link areUnchanged} return false from now on. */
  markLost(files: readonly string[] = [this.database]): void {
    if (this.areLost) return;
    this.areLost = true;
    this.report(files);
  }

  /** @throws AppError `unavailable` */
  verify(): void {
    if (!this.areUnchanged())
      throw unavailable('The files of the store were deleted, replaced or damaged. An operator has to restore them.');
  }

  /** @returns undefined if the database became smaller */
  private currentIdentity(path: string): string | undefined {
    const stats = statsOf(path);
    if (path === this.database && stats) {
      if (stats.size < this.databaseBytes) return undefined;
      this.databaseBytes = Number(stats.size);
    }
    return identityOf(path, stats);
  }
}

/** @returns undefined if there is no file */
export function identityOf(path: string, stats = statsOf(path)): string | undefined {
  return stats && `${stats.dev}:${stats.ino}`;
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/**
 * Refuses what cannot be a database. To open a pipe would wait for its other end, in the thread that serves.
 * @throws StoreConfigError
 */
export function requireFile(path: string): void {
  const stats = statsOf(path);
  if (!stats || stats.isFile()) return;
  const kind = stats.isDirectory() ? 'folder' : 'pipe or a device';
  throw new StoreConfigError(`${path} is a ${kind}, not a SQLite database.`);
}

/**
 * Creates a folder that only its owner may use, and its parents. Node's recursive `mkdir` never returns where the system
 * refuses, as below /proc.
 * @throws Error of the system, with its `code`; EEXIST if something else has this path
 */
export function createFolder(folder: string): void {
  const parent = dirname(folder);
  // A root can be missing too: a drive of Windows.
  if (parent !== folder && !existsSync(parent)) createFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST' || !statSync(folder).isDirectory()) throw error;
  }
}

/** Returns the type of the file system of a file or folder, as `f_type` of statfs(2). */
export type FileSystemType = (path: string) => number;

/** FUSE holds file systems of any kind, such as that of sshfs. */
const NETWORK_TYPES: Readonly<Record<number, string>> = {
  26985: 'NFS',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  1702057286: 'FUSE',
};

/**
 * Returns what is wrong with the place of a database, for a person; undefined if nothing is known to be.
 * @param file an absolute path in a folder that exists
 */
export function networkWarning(
  file: string,
  typeOf: FileSystemType = (path) => statfsSync(path).type,
): string | undefined {
  // On machines of 32 bits the number is signed.
  const name = NETWORK_TYPES[typeOf(existsSync(file) ? file : dirname(file)) >>> 0];
  return name && `${file} is on ${name}, where the locks of SQLite may fail and its database be damaged`;
}

/** What to do about it. */
export const USE_LOCAL_DISK = 'move the database to a disk of this machine';
