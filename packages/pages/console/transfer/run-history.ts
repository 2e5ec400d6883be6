import type { EditableCollection, ImportResult } from '#packages/client/index.js';
import type { AnyTypes, CatalogueRecord, Undo } from '../types.js';
import { type Comparison, changesOf, type Finding } from './file-changes.js';
import { Lines } from './lines.js';

/** The most records whose old values are kept. */
export const MOST_KEPT = 10_000;
/** The most values of a filter such as `id.in`. */
const MOST_IDS = 100;

/** Reads records by their ids. Those that are gone are left out. */
export async function* recordsWith(
  collection: EditableCollection<AnyTypes>,
  ids: Iterable<number>,
  fields: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<CatalogueRecord, void, void> {
  const all = [...ids];
  for (let at = 0; at < all.length; at += MOST_IDS) {
    const query = { 'id.in': all.slice(at, at + MOST_IDS), fields, limit: MOST_IDS };
    yield* (await collection.page(query, { signal })).records as readonly CatalogueRecord[];
  }
}

/**
 * What a run did, so that it can be undone. The check before it finds the records whose old values count; the run tells the
 * versions that it made. A record that somebody else wrote meanwhile is not undone.
 */
export class RunHistory {
  private readonly found = new Set<number>();
  private readonly deletions: Finding[] = [];
  private before: ReadonlyMap<number, CatalogueRecord> | undefined;
  /** By their numbers in the file: the result of a deletion has no id. */
  private beforeDeletion: ReadonlyMap<number, CatalogueRecord> = new Map();
  private readonly created = new Map<number, number>();
  private readonly changed = new Map<number, number>();
  private readonly deleted = new Map<number, CatalogueRecord>();

  /** @param comparison how the file names the records that it deletes */
  constructor(
    private readonly comparison: () => Comparison,
    private readonly key: string,
  ) {}

  /** How many records the check has found that exist and would be different. */
  get size(): number {
    return this.found.size + this.deletions.length;
  }

  /** Notes a result of the check. */
  async find(_: number, result: ImportResult, finding: () => Promise<Finding>): Promise<void> {
    if (result.error || result.unchanged) return;
    if (result.status === 204) this.deletions.push(await finding());
    else if (result.status === 200 && result.id !== undefined) this.found.add(result.id);
  }

  /** Reads the old values, once. */
  async read(signal: AbortSignal): Promise<void> {
    if (this.before) return;
    const before = new Map<number, CatalogueRecord>();
    for await (const record of this.changing(['version'], signal)) before.set(record.id, record);
    const deletions = await changesOf(this.deletions, this.comparison(), signal);
    this.beforeDeletion = new Map(
      deletions.flatMap(({ finding, current }) => (current ? [[finding.number, current] as const] : [])),
    );
    this.before = before;
  }

  /** The old values as files of records: of those that change with their ids, of those that are deleted without. */
  async oldValues(signal: AbortSignal): Promise<File[]> {
    const [changing, deleting] = [new Lines(), new Lines()];
    for await (const record of this.changing([], signal)) changing.add(record);
    for (const { current } of await changesOf(this.deletions, this.comparison(), signal))
      if (current) deleting.add(anew(current));
    return [changing.asFile('old-values.ndjson'), deleting.asFile('deleted.ndjson')].filter(({ size }) => size > 0);
  }

  /** Notes a result of the run. */
  add(number: number, { status, id = 0, version = 1, unchanged, error }: ImportResult): void {
    if (error || unchanged) return;
    const was = this.beforeDeletion.get(number);
    if (status === 204 && was) this.deleted.set(number, was);
    else if (status === 201 || this.created.has(id)) this.created.set(id, version);
    else if (status === 200) {
      const last = this.changed.get(id) ?? Number(this.before?.get(id)?.['version']);
      if (version === last + 1) this.changed.set(id, version);
    }
  }

  /** How to undo what the run has done so far; undefined if there is nothing to undo. */
  get undo(): Omit<Undo, 'resource'> | undefined {
    const [changes, creations] = [new Lines(), new Lines()];
    for (const [id, version] of [...this.created].reverse()) changes.add({ id, version, deleted: true });
    // Backwards, because a record may have taken the SKU that another one had before.
    for (const [id, version] of [...this.changed].reverse()) changes.add({ ...this.before?.get(id), version });
    for (const record of this.deleted.values()) creations.add(anew(record));
    const steps = [
      { file: creations.asFile('undo.ndjson'), use: { match: undefined, existing: 'merge' }, key: this.key },
      { file: changes.asFile('undo.ndjson'), use: { match: 'id', existing: 'replace' } },
    ] as const;
    const { created, changed, deleted } = this;
    return created.size + changed.size + deleted.size === 0
      ? undefined
      : {
          created: created.size,
          changed: changed.size,
          deleted: deleted.size,
          steps: steps.filter(({ file }) => file.size > 0),
        };
  }

  private changing(further: readonly string[], signal: AbortSignal) {
    const { collection, fields } = this.comparison();
    return recordsWith(collection, this.found, ['id', ...further, ...fields.map(({ name }) => name)], signal);
  }
}

/** A record as it is created again. */
function anew({ id: _, ...record }: CatalogueRecord): object {
  return record;
}
