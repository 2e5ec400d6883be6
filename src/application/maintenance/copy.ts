import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Id, type Instant, MAX_ID } from '../../domain/record.js';
import { canonicalJson } from '../../shared/json.js';
import { yieldToEventLoop } from '../../shared/promises.js';
import { type Archive, type Archives, type EntryCounts, type RecordEntry, UNFINISHED_COPY } from '../ports/archive.js';
import type { Clock } from '../ports/clock.js';
import type { Reservation } from '../ports/idempotency-store.js';
import { StoreConfigError } from '../ports/store.js';
import { HOUR_MS, RESERVATION_MS, RESERVATION_PROMISED_MS } from './retention.js';

/**
 * How long a tombstone is needed: as long as a reservation of its id may live. Stores keep it longer, and a copy of
 * records takes less time than the difference.
 */
export const TOMBSTONE_NEEDED_MS = RESERVATION_MS + 12 * HOUR_MS;

/** No entry is older. */
const EVER: Instant = 0;

const COPY_BATCH = 1_000;

/** The most entries that are read between two turns of the event loop, so that a signal is heard soon. */
const PAGE = 200;

/** A batch ends early at this many bytes of entries as JSON. One entry has at most about 1 MiB. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** The copy cannot be made, or differs from its source. The message is for a person. */
export class CopyError extends Error {}

export interface CopyReport {
  readonly name: string;
  readonly counts: EntryCounts;
  /** The number of entries that the copy wrote. */
  readonly written: number;
  /** SHA-256 over all entries, the same for both sides, in hexadecimal. */
  readonly checksum: string;
}

/** @param total how many entries the step has in all */
export type Progress = (
  name: string,
  step: 'deleting' | 'copying' | 'verifying',
  entries: number,
  total: number,
) => void;

export type CopiedFields = (fields: unknown) => unknown;

/** The keys and the expiry of the entries of a copy, and what a copy changes. */
export interface CopyRules<Key extends number | string, Entry> {
  /** A value before every key. */
  readonly beforeAll: Key;
  keyOf(entry: Entry): Key;
  /** Whether a key that a store returned is allowed. */
  isKey(key: unknown): boolean;
  /** Which keys are allowed, for a person. */
  readonly keys: string;
  kindOf(entry: Entry): string;
  /** Entries that expire and are older have expired: they are not copied, and the source may purge them meanwhile. */
  readonly since: Instant;
  isPast(entry: Entry): boolean;
  /** Returns the entry as the target shall have it. */
  copied(source: Entry): Entry;
}

/**
 * @param since older tombstones are not needed
 * @param copiedFields returns the fields of a record as the target shall have them. Default: the same
 */
export function recordRules(
  since: Instant,
  copiedFields: CopiedFields = (fields) => fields,
): CopyRules<Id, RecordEntry> {
  return {
    // A walk meets the ids that no record may have, and names them.
    beforeAll: Number.MIN_SAFE_INTEGER,
    keyOf: ({ id }) => id,
    isKey: (key) => Number.isSafeInteger(key) && Number(key) >= 1,
    keys: `a whole number from 1 to ${MAX_ID}`,
    kindOf: (entry) => ('deletedAt' in entry ? 'tombstone' : 'record'),
    since,
    isPast: (entry) => 'deletedAt' in entry && entry.deletedAt < since,
    copied: (entry) => ('fields' in entry ? { ...entry, fields: copiedFields(entry.fields) } : entry),
  };
}

export function reservationRules(now: Instant): CopyRules<string, Reservation> {
  // Stores keep a reservation for one more hour. A copy of reservations takes less than that.
  const since = now - RESERVATION_PROMISED_MS;
  return {
    beforeAll: '',
    keyOf: ({ key }) => key,
    isKey: (key) => typeof key === 'string' && key !== '',
    keys: 'a text with a character',
    kindOf: () => 'reservation',
    since,
    isPast: ({ reservedAt }) => reservedAt < since,
    copied: (entry) => entry,
  };
}

/**
 * Copies all unexpired entries of `from` to `to`, which is empty, and verifies the copy by reading both again. Its memory
 * does not grow with the number of entries.
 */
export class ArchiveCopy<Key extends number | string, Entry> {
  constructor(
    private readonly from: Archive<Key, Entry>,
    private readonly to: Archive<Key, Entry>,
    private readonly rules: CopyRules<Key, Entry>,
    private readonly progress: Progress,
  ) {}

  /** @throws CopyError if a side has an entry whose key is not allowed, or `from` changed meanwhile */
  async make(): Promise<CopyReport> {
    const total = sum(await this.from.counts(this.rules.since));
    const written = await this.copyAll(total);
    // The source is read again: it may have changed.
    const [source, target] = [await this.summary(this.from, total), await this.summary(this.to, total)];
    if (isDeepStrictEqual(source, target)) return { ...source, written };
    throw new CopyError(
      `The copy of ${source.name} is not like its source: ${countsIn(source)} against ${countsIn(target)}. ` +
        'Did the source change meanwhile? Stop its service.',
    );
  }

  private async copyAll(total: number): Promise<number> {
    let written = 0;
    let batch: Entry[] = [];
    let bytes = 0;
    const flush = async () => {
      if (batch.length > 0) await this.to.add(batch);
      written += batch.length;
      this.progress(this.from.name, 'copying', written, total);
      batch = [];
      bytes = 0;
    };
    for await (const entry of this.entries(this.from)) {
      this.progress(this.from.name, 'copying', written, total);
      if (this.rules.isPast(entry)) continue;
      batch.push(entry);
      bytes += Buffer.byteLength(JSON.stringify(entry));
      if (batch.length === COPY_BATCH || bytes >= MAX_BATCH_BYTES) await flush();
    }
    await flush();
    return written;
  }

  /** @throws CopyError if the walk met other entries than the store counts: each walk here may miss the same ones */
  private async summary(archive: Archive<Key, Entry>, total: number): Promise<Omit<CopyReport, 'written'>> {
    const { name } = archive;
    const held = await archive.counts(this.rules.since);
    const counts = Object.fromEntries(Object.keys(held).map((kind) => [kind, 0]));
    const hash = createHash('sha256');
    let seen = 0;
    for await (const entry of this.entries(archive)) {
      this.progress(name, 'verifying', ++seen, total);
      if (this.rules.isPast(entry)) continue;
      const kind = this.rules.kindOf(entry);
      counts[kind] = (counts[kind] ?? 0) + 1;
      hash.update(`${canonicalJson(entry)}\n`);
    }
    if (isDeepStrictEqual(held, counts)) return { name, counts, checksum: hash.digest('hex') };
    throw new CopyError(
      `The ${this.sideOf(archive)} holds ${countsIn({ counts: held })} of ${name}, and ${countsIn({ counts })} were ` +
        'read. Did it change meanwhile? Stop its service.',
    );
  }

  /** @throws CopyError if a key is not allowed, or does not follow the one before: such a walk might never end */
  private async *entries(archive: Archive<Key, Entry>): AsyncGenerator<Entry, undefined> {
    for (let after = this.rules.beforeAll; ; ) {
      // A store may read without waiting for anything.
      await yieldToEventLoop();
      const page = await archive.read(after, PAGE);
      if (page.length === 0) return undefined;
      for (const entry of page) {
        after = this.keyBehind(after, entry, archive);
        yield archive === this.from ? this.rules.copied(entry) : entry;
      }
    }
  }

  private keyBehind(after: Key, entry: Entry, archive: Archive<Key, Entry>): Key {
    const key = this.rules.keyOf(entry);
    const side = this.sideOf(archive);
    if (!this.rules.isKey(key))
      throw new CopyError(
        `The ${side} holds a ${this.rules.kindOf(entry)} of ${archive.name} with the key ${key}, which is not ${this.rules.keys}.`,
      );
    if (key > after) return key;
    throw new CopyError(`The ${side} returns the ${archive.name} out of order: ${key} behind ${after}.`);
  }

  private sideOf(archive: Archive<Key, Entry>): 'source' | 'target' {
    return archive === this.from ? 'source' : 'target';
  }
}

/** How tables are copied, by their names. */
export interface TableRules {
  /** The tables whose tombstones expire. */
  readonly expiring: readonly string[];
  /** The tables whose records a copy changes. */
  readonly copiedFields: Readonly<Record<string, CopiedFields>>;
}

/**
 * Copies all archives of a store to those of an empty one. The next new ids of `to` follow the last of `from`.
 * @throws CopyError; also if another program changed the records of `from` meanwhile, even after they were verified
 */
export async function copyArchives(
  from: Archives,
  to: Archives,
  { expiring, copiedFields }: TableRules,
  clock: Pick<Clock, 'now'>,
  progress: Progress,
): Promise<CopyReport[]> {
  const before = await marksOf(from);
  const reports: CopyReport[] = [];
  for (const archive of from.records) {
    const expires = expiring.includes(archive.name);
    const since = expires ? clock.now() - TOMBSTONE_NEEDED_MS : EVER;
    const target = counterpart(archive, to.records);
    const rules = recordRules(since, copiedFields[archive.name]);
    reports.push(await new ArchiveCopy(archive, target, rules, progress).make());
    await target.raiseNextId(await archive.nextId());
  }
  for (const archive of from.reservations) {
    const target = counterpart(archive, to.reservations);
    reports.push(await new ArchiveCopy(archive, target, reservationRules(clock.now()), progress).make());
  }
  if (isDeepStrictEqual(before, await marksOf(from))) return reports;
  throw new CopyError('The source changed meanwhile. Stop its service.');
}

function counterpart<Kind extends { readonly name: string }>({ name }: Kind, others: readonly Kind[]): Kind {
  const found = others.find((other) => other.name === name);
  if (!found) throw new CopyError(`The target keeps no ${name}.`);
  return found;
}

async function marksOf({ records }: Archives): Promise<string[]> {
  const marks: string[] = [];
  for (const archive of records) marks.push(await archive.changeMark());
  return marks;
}

/** The mark of a target, from before the first entry is written until the copy has ended. */
const MARK = { key: 'unfinished', fingerprint: '', id: 1 } as const;

/** What {@link claimTarget} found in one archive. */
export type Contents = Pick<CopyReport, 'name' | 'counts'>;

export interface CopyOptions {
  readonly progress: Progress;
  /** Takes only the target of a copy that broke off. It is called with what is deleted there. */
  readonly overwrite?: (contents: readonly Contents[]) => void;
}

/**
 * Marks the target of a copy. Until {@link releaseTarget}, {@link requireFinished} throws.
 * @throws CopyError unless the target is empty, or, with `overwrite`, marked
 */
export async function claimTarget(
  to: Archives,
  clock: Pick<Clock, 'now'>,
  { overwrite, progress }: CopyOptions,
): Promise<void> {
  const contents = await contentsOf(to);
  const described = contents.map((one) => `${one.name}: ${countsIn(one)}`).join('; ');
  const isMarked = await holdsUnfinishedCopy(to);
  if (overwrite) {
    if (!isMarked)
      throw new CopyError(
        `--overwrite takes only the target of a copy that broke off. This one holds ${described || 'nothing'}.`,
      );
    overwrite(contents);
    for (const archive of to.records) await discardAll(archive, recordRules(EVER), progress);
    for (const archive of to.reservations) await discardAll(archive, reservationRules(EVER), progress);
    return;
  }
  if (isMarked || contents.length > 0)
    throw new CopyError(
      `The target is not empty: ${described || 'nothing but the mark of a copy'}. ` +
        (isMarked ? 'It is of a copy that broke off: --overwrite deletes it.' : 'A copy needs an empty store.'),
    );
  await to.unfinished?.add([{ ...MARK, reservedAt: clock.now() }]);
}

/** Removes the mark of {@link claimTarget}. */
export async function releaseTarget(to: Archives): Promise<void> {
  await to.unfinished?.discard([MARK.key]);
}

/** @throws StoreConfigError if a copy to this store has not ended */
export async function requireFinished(archives: Archives, location: string): Promise<void> {
  if (!(await holdsUnfinishedCopy(archives))) return;
  const { message, remedy } = UNFINISHED_COPY;
  throw new StoreConfigError(`${location}: ${message}; ${remedy}.`);
}

async function holdsUnfinishedCopy({ unfinished }: Archives): Promise<boolean> {
  return unfinished !== undefined && (await unfinished.read('', 1)).length > 0;
}

async function contentsOf({ records, reservations }: Archives): Promise<Contents[]> {
  const contents: Contents[] = [];
  for (const archive of [...records, ...reservations])
    contents.push({ name: archive.name, counts: await archive.counts(EVER) });
  return contents.filter(({ counts }) => sum(counts) > 0);
}

async function discardAll<Key extends number | string, Entry>(
  archive: Archive<Key, Entry>,
  { beforeAll, keyOf }: CopyRules<Key, Entry>,
  progress: Progress,
): Promise<void> {
  const total = sum(await archive.counts(EVER));
  for (let deleted = 0; ; ) {
    progress(archive.name, 'deleting', deleted, total);
    await yieldToEventLoop();
    const page = await archive.read(beforeAll, PAGE);
    if (page.length === 0) return;
    await archive.discard(page.map(keyOf));
    deleted += page.length;
  }
}

function sum(counts: EntryCounts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** Returns for example `2 records, 1 tombstones`. */
export function countsIn({ counts }: Pick<CopyReport, 'counts'>): string {
  return Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind}s`)
    .join(', ');
}
