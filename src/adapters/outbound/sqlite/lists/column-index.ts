import { type FeedRange, isInRange, type NumberedPosition } from '../../../../application/changes/feed-state.js';
import type { FacetField, FacetValue, RecordTable } from '../../../../application/ports/list-query.js';
import type { Logger } from '../../../../application/ports/logger.js';
import { facetValues } from '../../../../application/records/facets.js';
import type { QueryBudget } from '../../../../application/records/lists.js';
import { fieldValue, specOf } from '../../../../application/records/query-semantics.js';
import type { StoredRecord } from '../../../../application/records/record-json.js';
import { AppError, queryTooExpensive } from '../../../../domain/errors.js';
import { SYSTEM_FIELDS } from '../../../../domain/fields.js';
import type { Id } from '../../../../domain/record.js';
import { withTimeout } from '../../../../shared/promises.js';
import { BACKGROUND, type Task } from '../../../../shared/task-scheduler.js';
import { columnOf, valuesTable } from '../../sql/keyset.js';
import type { Reader } from '../connection/connection.js';
import type { SqliteDatabase } from '../connection/database.js';
import { idsIn, idsOf, RecordReader } from '../sql/records.js';
import {
  attributeName,
  compareStored,
  indexedBy,
  indexName,
  newestChange,
  ofField,
  type Sql,
  type StoredValue,
  sql,
} from '../sql/schema.js';
import { type Column, ColumnBuilder, type ColumnKind, MAX_COLUMN_ID } from './dictionary-column.js';

/** Sizes, measured on a million sample products. */
export interface ColumnTuning {
  /** The most memory of the columns of a table with the records that changed since, in bytes. */
  readonly bytes: number;
  /** The rows of an index that are read, and the ids that are merged, at once: about two milliseconds. */
  readonly rows: number;
  /** If more records changed since the columns were made, they are made again: this part of the records, at least so many. */
  readonly changedPart: number;
  readonly leastChanged: number;
}

export const COLUMN_TUNING: ColumnTuning = {
  bytes: 128 * 1024 * 1024,
  rows: 16_384,
  changedPart: 1 / 256,
  leastChanged: 1_000,
};

/** The most numbers of changes that are read at once. Of more, a query reads the first before it takes a snapshot. */
const FOLLOWED = 1_024;
/** The bytes of changed records that are parsed, when they are first looked at, in about two milliseconds. */
const GROUP_BYTES = 262_144;
/** An index that lacks more changes is made anew. */
const MAX_BEHIND = 50_000;
/** The most columns that are known not to fit. */
const MAX_REFUSED = 256;

export function columnName({ field, key }: FacetField): string {
  return key === undefined ? field : attributeName(field, key);
}

/** How many rows take as long to read as it takes to find the next value. */
const ROWS_OF_A_VALUE = 128;
/** How many ids are merged in the time of the next value. */
const VALUE_IDS = 16;

/** Resolves after other requests. */
type Next = () => Promise<unknown>;

interface ChangedRecord {
  readonly id: Id;
  /** Absent: it was deleted. */
  readonly record?: StoredRecord<unknown> | undefined;
  /** Its last change had at most this number. */
  readonly change: number;
  /** The index of the entry that replaced this one. */
  replacedAt: number;
}

/**
 * The records that changed since the columns were built, in the order in which they were read. It only grows, so a query
 * that looks at the entries up to a length sees one state.
 */
class Changes {
  readonly entries: ChangedRecord[] = [];
  /** By id: the number of its first entry, from 1 on; 0 if the record did not change. */
  first = new Uint32Array();
  private readonly last = new Map<Id, number>();
  bytes = 0;

  add(id: Id, change: number, record?: StoredRecord<unknown>): void {
    const at = this.entries.length;
    const before = this.entries[this.last.get(id) ?? -1];
    if (before) before.replacedAt = at;
    else this.markFirst(id, at + 1);
    this.last.set(id, at);
    this.entries.push({ id, change, record, replacedAt: Number.POSITIVE_INFINITY });
    // A record is held as its text, and once more as its fields when it was looked at.
    this.bytes += 200 + 4 * (record?.fieldsJson.length ?? 0);
  }

  private markFirst(id: Id, number: number): void {
    if (id > MAX_COLUMN_ID) return;
    if (id >= this.first.length) {
      const more = new Uint32Array(Math.ceil(1.25 * id) + 1);
      more.set(this.first);
      this.first = more;
    }
    this.first[id] = number;
  }

  /** The records whose last change has a higher number. */
  after(change: number): Changes {
    const later = new Changes();
    for (const entry of this.entries)
      if (entry.change > change && entry.replacedAt === Number.POSITIVE_INFINITY)
        later.add(entry.id, entry.change, entry.record);
    return later;
  }
}

/** What a query sees: the columns as they were built, and the records that had changed since when it began. */
export class IndexView {
  private readonly first: Uint32Array;
  private readonly length: number;

  constructor(
    private readonly columns: ReadonlyMap<string, Column>,
    private readonly changes: Changes,
  ) {
    this.first = changes.first;
    this.length = changes.entries.length;
  }

  column(field: FacetField): Column {
    return this.columns.get(columnName(field)) as Column;
  }

  get hasChanges(): boolean {
    return this.length > 0;
  }

  /** Whether a record changed, so that its values in columns do not count. */
  isChanged(id: Id): boolean {
    const first = id < this.first.length ? (this.first[id] as number) : 0;
    return first !== 0 && first <= this.length;
  }

  /** The changed records, as they are now, without those deleted. Other requests may run between the groups. */
  *changed(): Generator<readonly StoredRecord<unknown>[], void, void> {
    const { entries } = this.changes;
    let group: StoredRecord<unknown>[] = [];
    let bytes = 0;
    for (let at = 0; at < this.length; at++) {
      const { record, replacedAt } = entries[at] as ChangedRecord;
      if (!record || replacedAt < this.length) continue;
      group.push(record);
      bytes += record.fieldsJson.length;
      if (bytes < GROUP_BYTES) continue;
      yield group;
      [group, bytes] = [[], 0];
    }
    if (group.length > 0) yield group;
  }

  /** The ids of all changed records, each once. */
  *changedIds(): Generator<Id, void, void> {
    const { entries } = this.changes;
    for (let at = 0; at < this.length; at++) {
      const { id } = entries[at] as ChangedRecord;
      if (this.first[id] === at + 1) yield id;
    }
  }
}

interface CachedColumn {
  readonly field: FacetField;
  readonly column: Column;
  /** Whether a query used it since it was built. */
  isUsed: boolean;
}

/**
 * An index of a table in memory: the columns of the fields that queries ask for, and the records that changed since. It
 * follows the numbers of changes, of other processes too, so there is none while no feed is written.
 */
export class ColumnIndex {
  /** The least recently used first. */
  private readonly columns = new Map<string, CachedColumn>();
  private changes = new Changes();
  /** The change behind which the table is as the columns and the changed records show it together. */
  private position: NumberedPosition = { epoch: '', change: 0 };
  /** Whether more changes are missing than a query follows by itself. */
  private isBehind = true;
  /** The last columns with too many values, and those that together are too large, with the change at that time. */
  private readonly refused = new Map<string, number>();
  private building: Promise<void> | undefined;
  private restarts = 0;
  private refreshing: Promise<void> | undefined;
  private readonly records: RecordReader<unknown>;
  private readonly sql: ReturnType<typeof statements>;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
    private readonly logger?: Pick<Logger, 'error'>,
    private readonly tuning = COLUMN_TUNING,
  ) {
    this.records = new RecordReader(table);
    this.sql = statements(table.name);
  }

  /** Whether the columns of the fields are in memory. */
  has(fields: readonly FacetField[]): boolean {
    return fields.every((field) => this.columns.has(columnName(field)));
  }

  /**
   * Builds the columns that are missing, one after the other, and follows the changes of others.
   * @returns false if a field has no column, or no feed is written
   * @throws AppError `query_too_expensive` if that takes longer than a query may
   */
  async prepare(fields: readonly FacetField[], task: Task): Promise<boolean> {
    if (!this.isBehind && this.has(fields)) return true;
    const { timeoutMs } = this.budget;
    const prepared = this.prepareAll(fields);
    return task.mayTakeLong || timeoutMs === Number.POSITIVE_INFINITY
      ? prepared
      : withTimeout(prepared, timeoutMs, queryTooExpensive);
  }

  /**
   * What a query sees in a snapshot.
   * @param reader has read nothing from its snapshot yet
   * @returns undefined if {@link prepare} has to be called first
   */
  view(reader: Reader, fields: readonly FacetField[]): IndexView | undefined {
    const range = this.rangeOf(reader);
    this.isBehind = !range || !this.isCurrent(range);
    if (!range || this.isBehind || !this.has(fields)) return undefined;
    this.follow(reader, range.newest);
    this.isBehind = this.position.change !== range.newest;
    if (this.isBehind || !this.has(fields)) return undefined;
    const columns = new Map<string, Column>();
    for (const field of fields) {
      const name = columnName(field);
      const cached = this.touch(name) as CachedColumn;
      cached.isUsed = true;
      columns.set(name, cached.column);
    }
    this.refreshIfMany();
    return new IndexView(columns, this.changes);
  }

  private async prepareAll(fields: readonly FacetField[]): Promise<boolean> {
    const range = this.rangeOf(this.database);
    if (!range) return false;
    if (!this.isCurrent(range)) this.restart({ epoch: range.epoch, change: range.newest });
    const names = fields.map(columnName);
    const together = names.toSorted().join();
    let bytes = 0;
    for (const field of fields) {
      while (this.building) await this.building;
      // Nothing is built, and nobody loses a column, for a query that this index cannot serve.
      if ([together, ...names].some((name) => this.isRefused(name))) return false;
      const name = columnName(field);
      if (!this.touch(name)) await this.build(field);
      const cached = this.columns.get(name);
      if (!cached) return false;
      bytes += cached.column.bytes;
    }
    if (bytes > this.tuning.bytes) this.refuse(together);
    await this.followAll();
    return bytes <= this.tuning.bytes;
  }

  /** @param names of one column or of several */
  private refuse(names: string, change = this.position.change): void {
    const [first] = this.refused.keys();
    if (first !== undefined && this.refused.size >= MAX_REFUSED) this.refused.delete(first);
    this.refused.set(names, change);
  }

  private isRefused(names: string): boolean {
    return this.position.change - (this.refused.get(names) ?? Number.NEGATIVE_INFINITY) < MAX_BEHIND;
  }

  /** Makes a column the one that was used last. */
  private touch(name: string): CachedColumn | undefined {
    const cached = this.columns.get(name);
    if (cached && this.columns.delete(name)) this.columns.set(name, cached);
    return cached;
  }

  /** @returns undefined if no feed is written */
  private rangeOf(reader: Reader): FeedRange | undefined {
    const row = reader.row<[string, number, number]>(this.sql.range);
    return row && { epoch: row[0], lowWatermark: row[1], newest: row[2] };
  }

  /** Tombstones of changes up to the low watermark may be gone. */
  private isCurrent(range: FeedRange): boolean {
    return isInRange(this.position, range) && range.newest - this.position.change <= MAX_BEHIND;
  }

  private restart(position: NumberedPosition): void {
    this.restarts++;
    this.columns.clear();
    this.refused.clear();
    this.changes = new Changes();
    this.position = position;
  }

  /** Follows the changes in pieces, so that other requests run in between. */
  private async followAll(): Promise<void> {
    for (;;) {
      const range = this.rangeOf(this.database);
      if (!range || !this.isCurrent(range) || range.newest === this.position.change) break;
      this.follow(this.database, range.newest);
      await BACKGROUND.yield();
    }
    this.isBehind = false;
  }

  /** Reads the next records that changed, up to a number. A record that changed again since is behind it. */
  private follow(reader: Reader, last: number): void {
    const { sql: statements, records } = this;
    const { epoch, change: after } = this.position;
    if (after === last) return;
    const end = Math.min(last, after + FOLLOWED);
    const isOneBatch = end - after <= records.batch;
    const [until] = (!isOneBatch && reader.row<[number]>(sql(statements.end, after, end, records.batch))) || [end];
    const deleted = reader.row<[string | null]>(sql(statements.deleted, after, until));
    for (const id of idsIn(deleted?.[0])) this.changes.add(id, until);
    for (const record of records.read(reader, sql(statements.changed, after, until)))
      this.changes.add(record.id, until, record);
    this.position = { epoch, change: until };
    if (this.changes.bytes > this.tuning.bytes / 2) this.restart({ epoch: '', change: 0 });
  }

  /** Builds the columns again if many records changed since. Requests go on with the old ones. */
  private refreshIfMany(): void {
    const { leastChanged, changedPart, bytes } = this.tuning;
    const { entries, bytes: changedBytes } = this.changes;
    if (entries.length <= leastChanged && changedBytes <= bytes / 4) return;
    const records = Math.max(...[...this.columns.values()].map(({ column }) => column.keys.length));
    if (entries.length <= changedPart * records && changedBytes <= bytes / 4) return;
    this.refreshing ??= this.refresh()
      .catch((error: unknown) => {
        // Every query meets an unavailable store, and a store that is closed no longer matters.
        if (!(error instanceof AppError)) this.logger?.error('the index of lists could not be made again', { error });
      })
      .finally(() => {
        this.refreshing = undefined;
      });
  }

  private async refresh(): Promise<void> {
    while (this.building) await this.building;
    const { position, restarts } = this;
    const view = new IndexView(new Map(), this.changes);
    for (const [name, { field, column, isUsed }] of [...this.columns]) {
      while (this.building) await this.building;
      if (this.restarts !== restarts) return;
      if (isUsed) await this.build(field, column, view);
      else this.columns.delete(name);
    }
    if (this.restarts === restarts) this.changes = this.changes.after(position.change);
  }

  /** @param before a column of the field, to be merged with the records that changed since */
  private build(field: FacetField, before?: Column, view?: IndexView): Promise<void> {
    this.building = this.buildColumn(field, before, view).finally(() => {
      this.building = undefined;
    });
    return this.building;
  }

  /** While a column is built, the records that change are among the changed ones, so it needs no snapshot. */
  private async buildColumn(field: FacetField, before?: Column, view?: IndexView): Promise<void> {
    const { position, restarts } = this;
    const time = this.budget.startUnlimited();
    const next = () => time.checkpoint();
    const name = columnName(field);
    const builder = new ColumnBuilder(kindOf(this.table, field), this.tuning.bytes);
    const isWhole =
      before?.values && view
        ? await merge(builder, field, before, before.values, view, next, this.tuning.rows)
        : await this.read(builder, field, next);
    const column = isWhole ? await builder.finish(next) : undefined;
    if (this.restarts !== restarts) return;
    this.columns.delete(name);
    if (!column || column.bytes > this.tuning.bytes) this.refuse(name, position.change);
    else this.columns.set(name, { field, column, isUsed: false });
    for (const oldest of this.columns.keys()) {
      if (this.bytes <= this.tuning.bytes) break;
      this.columns.delete(oldest);
    }
  }

  private get bytes(): number {
    let bytes = this.changes.first.byteLength;
    for (const { column } of this.columns.values()) bytes += column.bytes;
    return bytes;
  }

  /** Adds the rows of an index. @returns false if a column cannot hold the values */
  private read(builder: ColumnBuilder, field: FacetField, next: Next): Promise<boolean> {
    const rows = rowsOfField(this.table, field);
    return kindOf(this.table, field) === 'dictionary'
      ? this.readByValue(builder, rows, next)
      : this.readEach(builder, rows, next);
  }

  /** Reads the ids of one value after the other. */
  private async readByValue(
    builder: ColumnBuilder,
    { source, column, where }: IndexRows,
    next: Next,
  ): Promise<boolean> {
    const { database } = this;
    const { rows } = this.tuning;
    const from = `FROM ${source} WHERE ${where.text}`;
    const nextValue = (condition: string, ...values: unknown[]) =>
      database.row<[StoredValue | null]>(
        sql(`SELECT min(${column}) ${from} ${condition}`, ...where.values, ...values),
      )?.[0] ?? null;
    const text = `SELECT id ${from} AND ${column} = ? AND id > ? ORDER BY id LIMIT ?`;
    let left = rows;
    for (let value = nextValue(''); value !== null; value = nextValue(`AND ${column} > ?`, value))
      for (let after: Id | undefined = 0; after !== undefined; ) {
        const ids = idsOf(database, sql(text, ...where.values, value, after, rows));
        for (const id of ids) builder.add(facetValue(value), id);
        if (!builder.fits) return false;
        after = ids.length < rows ? undefined : ids.at(-1);
        left -= ids.length + ROWS_OF_A_VALUE;
        if (left > 0) continue;
        await next();
        left = rows;
      }
    return true;
  }

  /** Reads rows of which few share a value. The values are no fractions, so their JSON is exact. */
  private async readEach(
    builder: ColumnBuilder,
    { source, column, where, lowest }: IndexRows,
    next: Next,
  ): Promise<boolean> {
    const { rows } = this.tuning;
    const text = `SELECT group_concat(id), json_group_array(value) FROM (
      SELECT id, ${column} AS value FROM ${source}
        WHERE ${where.text} AND ${column} >= ?1 AND (${column} > ?1 OR id > ?2) ORDER BY 2, 1 LIMIT ?3)`;
    for (let [value, id] = [lowest, 0]; ; await next()) {
      const row = this.database.row<[string | null, string]>(sql(text, value, id, rows));
      const ids = idsIn(row?.[0]);
      const values = JSON.parse(row?.[1] ?? '[]') as (string | number)[];
      for (const [at, one] of ids.entries()) builder.add(values[at] as FacetValue, one);
      if (!builder.fits) return false;
      if (ids.length < rows) return true;
      [value, id] = [values.at(-1) ?? lowest, ids.at(-1) ?? 0];
    }
  }
}

/** Adds what a column has, with the records that changed since. @returns false if a column cannot hold it */
async function merge(
  builder: ColumnBuilder,
  field: FacetField,
  { ids, starts }: Column,
  values: readonly FacetValue[],
  view: IndexView,
  next: Next,
  rows: number,
): Promise<boolean> {
  const added = new Map<FacetValue, Id[]>();
  for (const some of view.changed()) {
    for (const record of some)
      for (const value of valuesIn(record, field)) {
        const known = added.get(value);
        if (known) known.push(record.id);
        else added.set(value, [record.id]);
      }
    await next();
  }
  const others = [...added.keys()].sort(compareStored);
  let left = rows;
  for (let key = 0, at = 0; builder.fits && (key < values.length || at < others.length); ) {
    const [value, other] = [values[key], others[at]];
    const order = value === undefined ? 1 : other === undefined ? -1 : compareStored(value, other);
    const one = (order > 0 ? other : value) as FacetValue;
    const [start, end] = order > 0 ? [0, 0] : [starts[key] as number, starts[key + 1] as number];
    for (let from = start; from < end; from++) {
      const id = ids[from] as Id;
      if (!view.isChanged(id)) builder.add(one, id);
      if (--left > 0) continue;
      await next();
      left = rows;
    }
    if (order >= 0) for (const id of added.get(one) ?? []) builder.add(one, id);
    if (order <= 0) key++;
    if (order >= 0) at++;
    left -= VALUE_IDS;
  }
  return builder.fits;
}

/** The values of a record in a field that has a column with values. */
function valuesIn(record: StoredRecord<unknown>, { field, key }: FacetField): readonly FacetValue[] {
  if (field === 'id') return [true];
  if (!(field in SYSTEM_FIELDS))
    return facetValues(record.fields as object, { field, ...(key !== undefined && { key }) });
  return [fieldValue(record, field) as number];
}

function kindOf(table: RecordTable, { field, key }: FacetField): ColumnKind {
  const { type, isList, faceted, groupsVariants } = specOf(table, field);
  if (field === 'id') return 'ids';
  if (groupsVariants) return 'values';
  if (key !== undefined || isList || faceted) return 'dictionary';
  return type === 'text' ? 'order' : 'values';
}

/** The rows of one field in an index, which are in the order of their values and then of their ids. */
interface IndexRows {
  readonly source: string;
  readonly column: string;
  readonly where: Sql;
  /** No value is lower. */
  readonly lowest: string | number;
}

function rowsOfField(table: RecordTable, { field, key }: FacetField): IndexRows {
  const { type, isList } = specOf(table, field);
  if (key !== undefined || isList) {
    const name = key === undefined ? field : attributeName(field, key);
    return { source: valuesTable(table.name), column: 'value', where: ofField(name), lowest: '' };
  }
  // Every record has this value, and its index is smaller than the table.
  const column = columnOf(field === 'id' ? 'createdAt' : field);
  const where = sql(`${column} IS NOT NULL`);
  return {
    source: indexedBy(table, column),
    column,
    where,
    lowest: type === 'text' ? '' : -Number.MAX_VALUE,
  };
}

/** SQLite has no booleans: the index of values has them as blobs. */
function facetValue(value: StoredValue): FacetValue {
  return typeof value === 'object' ? value[0] === 1 : value;
}

function statements(table: string) {
  const changed = `FROM ${table} INDEXED BY ${indexName(table, 'change')} WHERE change > ?1 AND change <= ?2 ORDER BY change`;
  return {
    range: sql(`SELECT epoch, floor, ${newestChange(table)} FROM feeds WHERE resource = '${table}'`),
    changed: `SELECT id ${changed}`,
    /** The number of the last change of a batch. */
    end: `SELECT iif(count(*) < ?3, ?2, max(change)) FROM (SELECT change ${changed} LIMIT ?3)`,
    deleted: `SELECT group_concat(id) FROM tombstones INDEXED BY tombstones_change
      WHERE resource = '${table}' AND change > ?1 AND change <= ?2`,
  };
}
