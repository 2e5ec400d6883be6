import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Id } from '../domain/record.js';
import { canonicalJson } from './canonical-json.js';
import type { Archive, ArchiveEntry } from './ports/archive.js';

const BATCH = 1_000;

/** The copy cannot be made, or was made and is not right. The message is for a person. */
export class CopyError extends Error {}

export interface CopyReport {
  readonly name: string;
  readonly records: number;
  readonly tombstones: number;
  /** How many entries this run had to write; the others were there. */
  readonly written: number;
  /** SHA-256 over every entry of both sides, in hexadecimal. */
  readonly checksum: string;
}

export type Progress = (name: string, step: 'comparing' | 'copying' | 'verifying', entries: number) => void;

/**
 * Brings `to` to hold what `from` holds, and proves it by reading both again. It may be run again after it was stopped
 * anywhere: what is there already is not written twice. Memory does not grow with the number of entries.
 * @throws CopyError where `to` holds what `from` does not, or `from` changed meanwhile
 */
export async function copyArchive(from: Archive, to: Archive, progress: Progress): Promise<CopyReport> {
  const stale = await findStale(from, to, progress);
  for (let at = 0; at < stale.length; at += BATCH) await to.discard(stale.slice(at, at + BATCH));
  const written = await addMissing(from, to, progress);
  await to.raiseNextId(await from.nextId());
  return { ...(await verify(from, to, progress)), written };
}

/** @returns the ids under which an earlier run left what has changed since */
async function findStale(from: Archive, to: Archive, progress: Progress): Promise<Id[]> {
  const stale: Id[] = [];
  let seen = 0;
  for await (const { source, target } of pairs(from, to)) {
    progress(from.name, 'comparing', ++seen);
    if (!target || isDeepStrictEqual(source, target)) continue;
    if (!source || isForeign(source, target)) {
      throw new CopyError(
        `The target holds a record of ${to.name}, ${target.id}, that is not of the source.`,
      );
    }
    stale.push(target.id);
  }
  return stale;
}

/** A record never gets another time of creation, and never comes back from a tombstone. */
function isForeign(source: ArchiveEntry, target: ArchiveEntry): boolean {
  if ('deletedAt' in source) return false;
  return 'deletedAt' in target || target.createdAt !== source.createdAt || target.version > source.version;
}

async function addMissing(from: Archive, to: Archive, progress: Progress): Promise<number> {
  let written = 0;
  let batch: ArchiveEntry[] = [];
  const flush = async () => {
    if (batch.length > 0) await to.add(batch);
    written += batch.length;
    progress(from.name, 'copying', written);
    batch = [];
  };
  for await (const { source, target } of pairs(from, to)) {
    if (source && !target) batch.push(source);
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return written;
}

async function verify(from: Archive, to: Archive, progress: Progress): Promise<Omit<CopyReport, 'written'>> {
  const [source, target] = [await summary(from, progress), await summary(to, progress)];
  if (isDeepStrictEqual(source, target)) return source;
  throw new CopyError(
    `The copy of ${from.name} is not like its source: ${source.records} records and ${source.tombstones} tombstones ` +
      `against ${target.records} and ${target.tombstones}. Did the source change meanwhile? Stop its service and run this again.`,
  );
}

async function summary(archive: Archive, progress: Progress): Promise<Omit<CopyReport, 'written'>> {
  const hash = createHash('sha256');
  const counts = { records: 0, tombstones: 0 };
  for await (const entry of entries(archive)) {
    counts['deletedAt' in entry ? 'tombstones' : 'records']++;
    hash.update(`${canonicalJson(entry)}\n`);
    progress(archive.name, 'verifying', counts.records + counts.tombstones);
  }
  return { name: archive.name, ...counts, checksum: hash.digest('hex') };
}

interface Pair {
  readonly source?: ArchiveEntry;
  readonly target?: ArchiveEntry;
}

/** Both sides in order of id, what has the same id together. */
async function* pairs(from: Archive, to: Archive): AsyncGenerator<Pair> {
  const sources = entries(from);
  const targets = entries(to);
  let source = (await sources.next()).value;
  let target = (await targets.next()).value;
  while (source || target) {
    const id = Math.min(source?.id ?? Number.POSITIVE_INFINITY, target?.id ?? Number.POSITIVE_INFINITY);
    const pair = { ...(source?.id === id && { source }), ...(target?.id === id && { target }) };
    if (pair.source) source = (await sources.next()).value;
    if (pair.target) target = (await targets.next()).value;
    yield pair;
  }
}

async function* entries(archive: Archive): AsyncGenerator<ArchiveEntry, undefined> {
  let after: Id = 0;
  for (;;) {
    const page = await archive.read(after, BATCH);
    yield* page;
    const last = page.at(-1);
    if (!last) return undefined;
    after = last.id;
  }
}
