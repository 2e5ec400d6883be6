import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  type BackupProgress,
  BackupTargetError,
  BackupUnusable,
  type RestoreReport,
  SourceMissing,
} from '../../../application/ports/backup.js';
import { StoreConfigError } from '../../../application/ports/store.js';
import { systemReason } from '../../../shared/system-reason.js';
import { AtomicFile } from './atomic-file.js';
import { checkIntegrity, copyTo } from './backup.js';
import { createFolder } from './create-folder.js';
import { translateError } from './errors.js';
import { identityOf } from './open-files.js';
import { closeAlone, openAlone } from './sole-use.js';

/** Files that SQLite would take for those of the new database. */
const SUFFIXES = ['-wal', '-shm', '-journal'];

/**
 * Puts a copy of a backup in the place of a database that no process has open. The copy is complete, on the disk and
 * checked by `PRAGMA integrity_check` before it gets its name. If the process is killed, the database is the whole old
 * one or the whole new one.
 * @throws SourceMissing, BackupUnusable if the backup cannot be used
 * @throws StoreInUse; StoreConfigError if the file in its place is no database of this service; BackupTargetError
 * @throws AppError `unavailable`
 */
export async function restoreDatabase(
  backup: string,
  database: string,
  now: Date,
  progress: BackupProgress,
): Promise<RestoreReport> {
  const source = resolve(backup);
  if (!existsSync(source)) throw new SourceMissing(`There is no file ${source}.`);
  const target = realPath(resolve(database));
  if (identityOf(source) === identityOf(target))
    throw new BackupUnusable(`${source} is the database itself.`);
  prepareFolder(target);
  const old = existsSync(target) ? openAlone(target) : undefined;
  try {
    if (old) await AtomicFile.removeRemains(target);
    return await replaceBy(source, target, now, progress);
  } finally {
    if (old) closeAlone(old);
  }
}

async function replaceBy(
  source: string,
  target: string,
  now: Date,
  progress: BackupProgress,
): Promise<RestoreReport> {
  const copy = await AtomicFile.createBeside(target);
  try {
    const bytes = await fill(copy, source, progress);
    const owner = ownerOf(target);
    if (owner) await copy.giveTo(owner);
    const besides = SUFFIXES.map((suffix) => target + suffix).filter((file) => existsSync(file));
    return { database: target, bytes, replaced: await copy.replace(now, besides) };
  } finally {
    await copy.close();
  }
}

/** @throws BackupUnusable */
async function fill(copy: AtomicFile, source: string, progress: BackupProgress): Promise<number> {
  try {
    const bytes = await copyTo(copy, source, progress);
    progress(bytes, bytes);
    checkIntegrity(copy.partial);
    progress(bytes, bytes);
    return bytes;
  } catch (error) {
    const translated = translateError(error, source);
    if (!(translated instanceof StoreConfigError)) throw translated;
    throw new BackupUnusable(translated.message.replaceAll(copy.partial, source), { cause: error });
  }
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function prepareFolder(target: string): void {
  try {
    createFolder(dirname(target));
  } catch (error) {
    throw new BackupTargetError(`${target} cannot be written: ${systemReason(error)}.`, { cause: error });
  }
}

/** Returns the owner that the file must get, if root restores it for the user of the service. */
function ownerOf(target: string): { readonly uid: number; readonly gid: number } | undefined {
  const { uid, gid } = statSync(existsSync(target) ? target : dirname(target));
  return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
}
