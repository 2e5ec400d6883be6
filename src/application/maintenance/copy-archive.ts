import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Id } from '../../domain/record.js';
import { canonicalJson } from '../../shared/canonical-json.js';
import { yieldToEventLoop } from '../../shared/event-loop.js';
import type { Archive, Archives, RecordArchive, RecordEntry } from '../ports/archive.js';
import type { Clock } from '../ports/clock.js';
import {
  type CopiedFields,
  type CopyRules,
  recordRules,
  reservationRules,
  TOMBSTONE_NEEDED_MS,
} from './copy-rules.js';

const COPY_BATCH = 1_000;

/** The most entries that are read between two turns of the event loop, so that a signal is heard soon. */
const PAGE = 200;

/** A batch ends early at this many bytes of entries as JSON. One entry has at most about 1 MiB. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** The copy cannot be made, or differs from its source. The message is for a person. */
export class CopyError extends Error {}

export interface CopyReport {
  readonly name: string;
  /** The number of entries by kind: `record`, `tombstone`, `reservation`. */
  readonly counts: Readonly<Record<string, number>>;
  /** The number of entries that this run wrote. */
  readonly written: number;
  /** SHA-256 over all entries, the same for both sides, in hexadecimal. */
  readonly checksum: string;
}

/** @param total how many entries the step has in all; absent while nobody has counted them */
export type Progress = (
  name: string,
  step: 'comparing' | 'copying' | 'verifying',
  entries: number,
  total?: number,
) => void;

/**
 * Copies all entries of `from` to `to`, and verifies the copy by reading both again. It may be stopped at any point and
 * run again: it writes only missing entries. Its memory grows with the changes since an earlier run, and not with the
 * number of entries. It ignores entries that have expired by the rules.
 */
export class ArchiveCopy<Key extends number | string, Entry> {
  constructor(
    private readonly from: Archive<Key, Entry>,
    private readonly to: Archive<Key, Entry>,
    private readonly rules: CopyRules<Key, Entry>,
    private readonly progress: Progress,
  ) {}

  /** Known after the comparison. */
  private totals = { missing: 0, sources: 0 };

  /**
   * @throws CopyError if a side has an entry whose key is not allowed, `to` has entries that `from` lacks, or `from`
   * changed meanwhile
   */
  async make(): Promise<CopyReport> {
    for (const archive of [this.from, this.to]) {
      const outlier = await archive.outlier();
      if (outlier !== undefined) throw this.outlying(archive, outlier);
    }
    const stale = await this.findStale();
    for (let at = 0; at < stale.length; at += COPY_BATCH) {
      this.progress(this.from.name, 'copying', 0, this.totals.missing);
      await this.to.discard(stale.slice(at, at + COPY_BATCH));
    }
    const written = await this.addMissing();
    return { ...(await this.verify()), written };
  }

  /** @returns the keys of entries that an earlier run copied and that have changed since */
  private async findStale(): Promise<Key[]> {
    const { rules } = this;
    const stale: Key[] = [];
    let seen = 0;
    this.totals = { missing: 0, sources: 0 };
    for await (const { source, target } of this.pairs()) {
      this.progress(this.from.name, 'comparing', ++seen);
      if (source) this.totals.sources++;
      if (source && !target && !rules.isPast(source)) this.totals.missing++;
      if (!target || (source && canonicalJson(source) === canonicalJson(target))) continue;
      if (source ? rules.isForeign(source, target) : !rules.isPast(target)) throw this.foreign(target);
      if (source) stale.push(rules.keyOf(target));
    }
    this.totals.missing += stale.length;
    return stale;
  }

  private outlying(archive: Archive<Key, Entry>, key: string): CopyError {
    const { nouns, keys } = this.rules;
    return new CopyError(
      `The ${this.sideOf(archive)} holds a ${nouns[0]} of ${archive.name} with the key ${key}, which is not ${keys}.`,
    );
  }

  private sideOf(archive: Archive<Key, Entry>): 'source' | 'target' {
    return archive === this.from ? 'source' : 'target';
  }

  private foreign(target: Entry): CopyError {
    const what = `a ${this.rules.nounOf(target)} of ${this.to.name}, ${this.rules.keyOf(target)}`;
    return new CopyError(`The target holds ${what}, that is not of the source.`);
  }

  private async addMissing(): Promise<number> {
    let written = 0;
    let batch: Entry[] = [];
    let bytes = 0;
    const flush = async () => {
      if (batch.length > 0) await this.to.add(batch);
      written += batch.length;
      this.progress(this.from.name, 'copying', written, this.totals.missing);
      batch = [];
      bytes = 0;
    };
    for await (const { source, target } of this.pairs()) {
      this.progress(this.from.name, 'copying', written, this.totals.missing);
      if (!source || target || this.rules.isPast(source)) continue;
      batch.push(source);
      bytes += Buffer.byteLength(JSON.stringify(source));
      if (batch.length === COPY_BATCH || bytes >= MAX_BATCH_BYTES) await flush();
    }
    await flush();
    return written;
  }

  private async verify(): Promise<Omit<CopyReport, 'written'>> {
    const [source, target] = [await this.summary(this.from), await this.summary(this.to)];
    // The walk that copied has also read both sides here, so the stores count what it should have met.
    await this.requireAll(this.from, source);
    await this.requireAll(this.to, target);
    if (isDeepStrictEqual(source, target)) return source;
    throw new CopyError(
      `The copy of ${this.from.name} is not like its source: ${countsIn(source)} against ${countsIn(target)}. ` +
        'Did the source change meanwhile? Stop its service and run this again.',
    );
  }

  private async requireAll(
    archive: Archive<Key, Entry>,
    { counts }: Pick<CopyReport, 'counts'>,
  ): Promise<void> {
    const read = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const held = await archive.count(this.rules.since);
    if (held === read) return;
    throw new CopyError(
      `The ${this.sideOf(archive)} holds ${held} entries of ${archive.name}, and ${read} were read. ` +
        'Did it change meanwhile? Stop its service and run this again.',
    );
  }

  private async summary(archive: Archive<Key, Entry>): Promise<Omit<CopyReport, 'written'>> {
    const { rules } = this;
    const hash = createHash('sha256');
    const counts = Object.fromEntries(rules.nouns.map((noun) => [noun, 0]));
    let seen = 0;
    for await (const entry of this.entries(archive)) {
      this.progress(archive.name, 'verifying', ++seen, this.totals.sources);
      if (rules.isPast(entry)) continue;
      const noun = rules.nounOf(entry);
      counts[noun] = (counts[noun] ?? 0) + 1;
      hash.update(`${canonicalJson(entry)}\n`);
    }
    return { name: archive.name, counts, checksum: hash.digest('hex') };
  }

  /** Yields the entries of both sides in order of their keys, those with the same key together. */
  private async *pairs(): AsyncGenerator<Pair<Entry>> {
    const [sources, targets] = [this.entries(this.from), this.entries(this.to)];
    let source = (await sources.next()).value;
    let target = (await targets.next()).value;
    while (source || target) {
      const order = this.compare(source, target);
      const pair = { ...(source && order <= 0 && { source }), ...(target && order >= 0 && { target }) };
      if (pair.source) source = (await sources.next()).value;
      if (pair.target) target = (await targets.next()).value;
      yield pair;
    }
  }

  /** Compares by key. An absent entry comes last. */
  private compare(source: Entry | undefined, target: Entry | undefined): number {
    if (!source || !target) return source ? -1 : 1;
    const [one, other] = [this.rules.keyOf(source), this.rules.keyOf(target)];
    return one < other ? -1 : Number(one > other);
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
    if (!this.rules.isKey(key)) throw this.outlying(archive, String(key));
    if (key > after) return key;
    const side = this.sideOf(archive);
    throw new CopyError(`The ${side} returns the ${archive.name} out of order: ${key} behind ${after}.`);
  }
}

/** Copies as {@link ArchiveCopy.make} does. The next new id of `to` follows the last of `from`. */
export async function copyRecords(
  from: RecordArchive,
  to: RecordArchive,
  rules: CopyRules<Id, RecordEntry>,
  progress: Progress,
): Promise<CopyReport> {
  const report = await new ArchiveCopy(from, to, rules, progress).make();
  await to.raiseNextId(await from.nextId());
  return report;
}

/** How tables are copied, by their names. */
export interface TableRules {
  /** The tables whose tombstones expire. */
  readonly expiring: readonly string[];
  /** The tables whose records a copy changes. */
  readonly copiedFields: Readonly<Record<string, CopiedFields>>;
}

/**
 * Copies all archives of a store.
 * @throws CopyError; also if another program changed the records of `from` meanwhile
 */
export function copyArchives(
  from: Archives,
  to: Archives,
  { expiring, copiedFields }: TableRules,
  clock: Pick<Clock, 'now'>,
  progress: Progress,
): Promise<CopyReport[]> {
  return whileUnchanged(from.records, async () => {
    const reports: CopyReport[] = [];
    for (const archive of from.records) {
      const expires = expiring.includes(archive.name);
      const since = expires ? clock.now() - TOMBSTONE_NEEDED_MS : Number.NEGATIVE_INFINITY;
      const target = counterpart(archive, to.records);
      const rules = recordRules(since, copiedFields[archive.name]);
      reports.push(await copyRecords(archive, target, rules, progress));
    }
    for (const archive of from.reservations) {
      const rules = reservationRules(clock.now());
      const target = counterpart(archive, to.reservations);
      reports.push(await new ArchiveCopy(archive, target, rules, progress).make());
    }
    return reports;
  });
}

function counterpart<Kind extends { readonly name: string }>({ name }: Kind, others: readonly Kind[]): Kind {
  const found = others.find((other) => other.name === name);
  if (!found) throw new CopyError(`The target keeps no ${name}.`);
  return found;
}

type Marked = Pick<RecordArchive, 'changeMark'>;

/**
 * Runs a copy.
 * @param sources the records that are copied
 * @throws CopyError if another program changed them meanwhile, even after their copy was verified
 */
export async function whileUnchanged<Result>(
  sources: readonly Marked[],
  copy: () => Promise<Result>,
): Promise<Result> {
  const before = await marksOf(sources);
  const result = await copy();
  if (isDeepStrictEqual(before, await marksOf(sources))) return result;
  throw new CopyError('The source changed meanwhile. Stop its service and run this again.');
}

async function marksOf(archives: readonly Marked[]): Promise<string[]> {
  const marks: string[] = [];
  for (const archive of archives) marks.push(await archive.changeMark());
  return marks;
}

interface Pair<Entry> {
  readonly source?: Entry;
  readonly target?: Entry;
}

/** Returns for example `2 records, 1 tombstones`. */
export function countsIn({ counts }: Pick<CopyReport, 'counts'>): string {
  return Object.entries(counts)
    .map(([noun, count]) => `${count} ${noun}s`)
    .join(', ');
}
