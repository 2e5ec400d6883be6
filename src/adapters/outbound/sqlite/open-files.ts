import { type BigIntStats, realpathSync, statSync } from 'node:fs';
import { unavailable } from '../../../domain/errors.js';

/** The write-ahead log, and the shared memory that holds its index and its locks. */
const BESIDE = ['-wal', '-shm'];

/**
 * The files that SQLite has open, by device and inode. SQLite does not notice that one of them was deleted, moved or
 * replaced, and what it writes then is in no file that the next start opens. An inode is given to no other file while
 * this process has it open. A database that has become smaller was written over, for instance by `cp`: SQLite lets it grow
 * alone. The files are looked at and never opened here; `connect` says why.
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
   * Notes the files of a database that SQLite has opened just now.
   * @param before what `identityOf` gave before it was opened; undefined where SQLite was to make it
   * @param report is told once which files are no longer in place
   * @throws CatalogueError `unavailable` where the database was deleted or replaced meanwhile
   */
  static note(
    database: string,
    before: string | undefined,
    report: (files: readonly string[]) => void,
  ): OpenFiles {
    const opened = identityOf(database);
    if (opened === undefined || (before !== undefined && before !== opened))
      throw unavailable(`The file ${database} was deleted or replaced while it was opened.`);
    // SQLite follows links, and names the other files after the file that it found.
    const paths = [database, ...BESIDE.map((suffix) => realpathSync(database) + suffix)];
    const files = new OpenFiles(database, new Map(paths.map((path) => [path, identityOf(path)])), report);
    files.currentIdentity(database);
    return files;
  }

  /** After the first `false` it always returns `false`: nobody knows what was done to the files meanwhile. */
  areInPlace(): boolean {
    if (this.areLost) return false;
    const lost = [...this.identities].filter(
      ([path, identity]) => identity === undefined || identity !== this.currentIdentity(path),
    );
    if (lost.length === 0) return true;
    this.markLost(lost.map(([path]) => path));
    return false;
  }

  /** From now on the files count as lost. */
  markLost(files: readonly string[] = [this.database]): void {
    if (this.areLost) return;
    this.areLost = true;
    this.report(files);
  }

  /** @throws CatalogueError `unavailable` */
  verify(): void {
    if (!this.areInPlace())
      throw unavailable(
        'The files of the store were deleted, replaced or damaged. An operator has to restore them.',
      );
  }

  /** @returns undefined if the database has become smaller */
  private currentIdentity(path: string): string | undefined {
    const stats = statsOf(path);
    if (path !== this.database || !stats) return stats && identityIn(stats);
    if (stats.size < this.databaseBytes) return undefined;
    this.databaseBytes = Number(stats.size);
    return identityIn(stats);
  }
}

/** @returns undefined where no file can be found under that path */
export function identityOf(path: string): string | undefined {
  const stats = statsOf(path);
  return stats && identityIn(stats);
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

function identityIn({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
