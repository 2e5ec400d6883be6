import { recordsWith } from '../records-with.js';
import type { CatalogueRecord, Resource } from '../types.js';
import { type Comparison, changesOf, type Finding, type ImportUse } from './file-changes.js';
import { linesFile } from './files.js';

/** The most records whose old values are kept. */
export const MOST_KEPT = 10_000;

/** How to take back what a file or a bulk change did. */
export interface Undo {
  readonly resource: Resource;
  /** Whether it is too long for the storage of the tab. */
  readonly isLostOnReload?: boolean;
  /** So many records it made different. */
  readonly created: number;
  readonly changed: number;
  readonly deleted: number;
  /** Files to import one after the other. */
  readonly steps: readonly {
    readonly file: File;
    readonly use: ImportUse;
    /** For what is created again. */
    readonly key?: string;
  }[];
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
  find(finding: Finding): void {
    const { status, id, error, unchanged } = finding.result;
    if (error || unchanged) return;
    if (status === 204) this.deletions.push(finding);
    else if (status === 200 && id !== undefined) this.found.add(id);
  }

  /** Reads the old values, once. */
  async read(signal: AbortSignal): Promise<void> {
    if (this.before) return;
    const before = new Map<number, CatalogueRecord>();
    for await (const record of this.changing(['version'], signal)) before.set(record.id, record);
    this.beforeDeletion = new Map(await this.deleting(signal));
    this.before = before;
  }

  /** The old values as files of records: of those that change with their ids, of those that are deleted without. */
  async oldValues(): Promise<File[]> {
    const deleting = await this.deleting();
    const files = [
      await linesFile('old-values.ndjson', this.changing([])),
      await linesFile('deleted.ndjson', deleting.map(anew)),
    ];
    return files.filter(({ size }) => size > 0);
  }

  /** Notes a result of the run. */
  add({ number, result: { status, id = 0, version = 1, unchanged, error } }: Finding): void {
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
  async undo(): Promise<Omit<Undo, 'resource'> | undefined> {
    const { created, changed, deleted, key } = this;
    const counts = { created: created.size, changed: changed.size, deleted: deleted.size };
    const creations = await linesFile('undo.ndjson', [...deleted].map(anew));
    // Backwards, because a record may have taken the SKU that another one had before.
    const changes = await linesFile('undo.ndjson', [
      ...[...created].reverse().map(([id, version]) => ({ id, version, deleted: true })),
      ...[...changed].reverse().map(([id, version]) => ({ ...this.before?.get(id), version })),
    ]);
    const steps = [
      { file: creations, use: { match: undefined, existing: 'merge' }, key },
      { file: changes, use: { match: 'id', existing: 'replace' } },
    ] as const;
    const due = steps.filter(({ file }) => file.size > 0);
    return due.length === 0 ? undefined : { ...counts, steps: due };
  }

  private changing(further: readonly string[], signal?: AbortSignal) {
    const { collection, fields } = this.comparison();
    const names = ['id', ...further, ...fields.map(({ name }) => name)];
    return recordsWith(collection, 'id', this.found, { fields: names, signal });
  }

  /** The records that the file deletes, by their numbers in it. */
  private async deleting(signal?: AbortSignal): Promise<[number, CatalogueRecord][]> {
    const changes = await changesOf(this.deletions, this.comparison(), signal);
    return changes.flatMap(({ finding, current }) => (current ? [[finding.number, current]] : []));
  }
}

/** A deleted record as it is created again. */
function anew([, { id: _, ...record }]: readonly [number, CatalogueRecord]): object {
  return record;
}
