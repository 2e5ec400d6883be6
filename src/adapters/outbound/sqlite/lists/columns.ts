import type { QueryTime } from '../../../../application/maintenance/query-budget.js';
import type { FacetField, Filter, RecordTable } from '../../../../application/ports/list-query.js';
import type { Id } from '../../../../domain/record.js';
import { AdaptiveBatchSize } from '../connection/adaptive-batch-size.js';
import type { Reader } from '../connection/connection.js';
import { pathOf } from '../sql/filter.js';
import { idsIn, indexName, newestChange, type StoredValue } from '../sql/schema.js';
import { CodeColumn, type Column, type ColumnValue, NumberColumn } from './column.js';
import { type FacetTuning, facetValue, rowsOfFacet, rowsWithValue, slicesOfValues } from './value-rows.js';

/** A place among the changes of a table, by its feed. */
interface Moment {
  readonly epoch: string;
  readonly change: number;
}

interface KeptColumn {
  readonly column: Column;
  readonly moment: Moment;
}

/** The columns that a query needs, by their names. */
export type Columns = ReadonlyMap<string, Column>;

export function columnName({ field, key }: FacetField): string {
  return key === undefined ? field : `${field}.${key}`;
}

/**
 * The columns of a table that were used last, as far as they fit into the memory for them. They follow the numbers of
 * changes, so there are none while no feed is written.
 */
export class ColumnCache {
  /** The least recently used first. */
  private readonly kept = new Map<string, KeptColumn>();
  private readonly made = new Map<string, Promise<void>>();
  /** Fields with too many values, or values. */
  private readonly refused = new Set<string>();
  private readonly selectMoment: string;
  private readonly selectDeleted: string;

  constructor(
    private readonly table: RecordTable,
    private readonly tuning: Pick<FacetTuning, 'rows' | 'columnBytes' | 'columnChanges'>,
  ) {
    const { name } = table;
    this.selectMoment = `SELECT epoch, floor, ${newestChange(name)} FROM feeds WHERE resource = '${name}'`;
    this.selectDeleted = `SELECT group_concat(id) FROM tombstones INDEXED BY tombstones_change
      WHERE resource = '${name}' AND change > ?`;
  }

  /**
   * Makes the columns that are missing, or lack many changes.
   * @param inSnapshot runs work with a reader of a snapshot
   */
  async prepare(
    reader: Reader,
    fields: readonly FacetField[],
    inSnapshot: (work: (reader: Reader) => Promise<void>) => Promise<void>,
    time: QueryTime,
  ): Promise<void> {
    const now = this.momentOf(reader);
    if (!now) return;
    for (const field of fields) {
      const name = columnName(field);
      if (this.refused.has(name) || this.follows(name, now, this.tuning.columnChanges)) continue;
      const making = this.made.get(name) ?? inSnapshot((snapshot) => this.make(snapshot, field, time));
      this.made.set(name, making);
      await making.finally(() => this.made.delete(name));
    }
  }

  private follows(
    name: string,
    { epoch, floor, change }: Moment & { floor: number },
    changes: number,
  ): boolean {
    const kept = this.kept.get(name)?.moment;
    return (
      kept !== undefined && kept.epoch === epoch && kept.change >= floor && change - kept.change <= changes
    );
  }

  private momentOf(reader: Reader): (Moment & { floor: number }) | undefined {
    const row = reader.read(
      this.selectMoment,
      (statement) => statement.get([]) as [string, number, number] | undefined,
    );
    return row && { epoch: row[0], floor: row[1], change: row[2] };
  }

  private async make(reader: Reader, field: FacetField, time: QueryTime): Promise<void> {
    const moment = this.momentOf(reader);
    if (!moment) return;
    const isNumber = field.key === undefined && this.table.fields[field.field]?.type === 'integer';
    const column = isNumber ? new NumberColumn() : new CodeColumn();
    const any: Filter = { field: field.field, operator: 'exists', value: true };
    const all = isNumber
      ? [rowsWithValue({ ...this.table, hasAttributes: false }, any)]
      : rowsOfFacet(this.table, field, undefined);
    const size = new AdaptiveBatchSize(time, 1, this.tuning.rows);
    for (const rows of all) {
      if (!rows) return;
      for await (const parts of slicesOfValues(reader, rows, size))
        for (const { where } of parts) {
          const found = reader.read(
            `SELECT ${rows.column}, group_concat(id) FROM ${rows.source} WHERE ${where.text} GROUP BY 1`,
            (statement) => statement.all([...where.values]) as [StoredValue, string][],
          );
          for (const [value, ids] of found)
            if (!column.add(facetValue(value), idsIn(ids))) return void this.refused.add(columnName(field));
          if (column.bytes > this.tuning.columnBytes) return void this.refused.add(columnName(field));
        }
    }
    this.keep(columnName(field), { column, moment });
  }

  /**
   * Returns those of the columns that there are, as they are in the snapshot of a reader.
   * @param reader has read nothing from its snapshot yet
   */
  async at(reader: Reader, fields: readonly FacetField[], time: QueryTime): Promise<Columns> {
    const now = this.momentOf(reader);
    // From here to the first wait no other query brings a column further than this snapshot.
    const found = new Map<string, Column>();
    const behind = new Map<number, FacetField[]>();
    for (const field of now ? fields : []) {
      const name = columnName(field);
      const kept = this.kept.get(name);
      if (!now || !kept || !this.follows(name, now, Number.POSITIVE_INFINITY)) continue;
      const { change } = kept.moment;
      if (change !== now.change) behind.set(change, [...(behind.get(change) ?? []), field]);
      found.set(name, change === now.change ? kept.column : kept.column.fork());
      this.keep(name, kept);
    }
    for (const [change, some] of behind) {
      const columns = some.map((field) => found.get(columnName(field)) as Column);
      const isWhole = await this.follow(reader, change, some, columns, time);
      for (const [at, field] of some.entries()) {
        const name = columnName(field);
        if (!isWhole[at]) {
          found.delete(name);
          this.kept.delete(name);
        } else if (now && (this.kept.get(name)?.moment.change ?? 0) < now.change)
          this.keep(name, { column: columns[at] as Column, moment: now });
      }
    }
    return found;
  }

  /** Takes the changes behind a number into columns. @returns whether each column could hold them */
  private async follow(
    reader: Reader,
    from: number,
    fields: readonly FacetField[],
    columns: readonly Column[],
    time: QueryTime,
  ): Promise<boolean[]> {
    const { name } = this.table;
    const isWhole = columns.map(() => true);
    const set = (id: Id, values: readonly ColumnValue[]) => {
      for (const [at, column] of columns.entries())
        if (!column.set(id, values[at] ?? null)) isWhole[at] = false;
    };
    const [deleted] = reader.read(
      this.selectDeleted,
      (statement) => statement.get([from]) as [string | null],
    );
    for (const id of idsIn(deleted)) set(id, []);
    const paths = fields.map(({ field, key }) => (key === undefined ? `$.${field}` : pathOf(key)));
    const text = `SELECT group_concat(json_array(id, change${', fields -> ?'.repeat(paths.length)})) FROM (
      SELECT id, change, fields FROM ${name} INDEXED BY ${indexName(name, 'change')}
        WHERE change > ? ORDER BY change LIMIT ?)`;
    const size = new AdaptiveBatchSize(time);
    for (let after = from, isOver = false; !isOver; ) {
      const rows = await size.next();
      const [found] = reader.read(
        text,
        (statement) => statement.get([...paths, after, rows]) as [string | null],
      );
      const records = JSON.parse(`[${found ?? ''}]`) as [Id, number, ...ColumnValue[]][];
      for (const [id, change, ...values] of records) {
        set(id, values);
        after = change;
      }
      isOver = records.length < rows;
    }
    return isWhole;
  }

  private keep(name: string, kept: KeptColumn): void {
    this.kept.delete(name);
    this.kept.set(name, kept);
    let bytes = [...this.kept.values()].reduce((sum, { column }) => sum + column.bytes, 0);
    for (const [oldest, { column }] of this.kept) {
      if (bytes <= this.tuning.columnBytes) return;
      this.kept.delete(oldest);
      bytes -= column.bytes;
    }
  }
}
