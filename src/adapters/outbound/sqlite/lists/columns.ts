import type { QueryBudget } from '../../../../application/maintenance/query-budget.js';
import type {
  FacetField,
  FacetValue,
  Filter,
  RecordTable,
} from '../../../../application/ports/list-query.js';
import { AppError } from '../../../../domain/errors.js';
import { SYSTEM_FIELDS } from '../../../../domain/fields.js';
import type { Id } from '../../../../domain/record.js';
import { SERVICE_TURN, type Turn } from '../../../../shared/turn.js';
import { AdaptiveBatchSize } from '../connection/adaptive-batch-size.js';
import type { Reader } from '../connection/connection.js';
import type { SqliteDatabase } from '../connection/database.js';
import { pathOf } from '../sql/filter.js';
import { columnOf, idsIn, indexName, newestChange, type Sql, type StoredValue, sql } from '../sql/schema.js';
import {
  CodeColumn,
  type Column,
  type ColumnValue,
  NumberColumn,
  SELECTION_NAMES_BYTES,
  TextColumn,
} from './column.js';
import { type FacetTuning, facetValue, rowsOfFacet, rowsWithValue, slicesOfValues } from './value-rows.js';

/** A place among the changes of a table, by its feed. */
interface Moment {
  readonly epoch: string;
  readonly change: number;
}

/** The moment that a snapshot shows. Tombstones of changes up to the floor may be gone. */
interface Now extends Moment {
  readonly floor: number;
}

interface KeptColumn {
  readonly column: Column;
  readonly moment: Moment;
  readonly bytes: number;
}

/** The most columns of a table, and what one takes besides its blocks and its name. */
const MAX_COLUMNS = 256;
const COLUMN_BYTES = 2_048 + SELECTION_NAMES_BYTES;

/** The columns that a query needs, by their names. */
export type Columns = ReadonlyMap<string, Column>;

/** A field or attribute with a column. */
export interface ColumnField extends FacetField {
  /** Whether the column is of texts in order, not of their codes. */
  readonly isOrder?: true;
}

export function columnName({ field, key, isOrder }: ColumnField): string {
  if (isOrder) return `order of ${field}`;
  return key === undefined ? field : `${field}.${key}`;
}

function emptyColumn({ fields }: RecordTable, { field, key, isOrder }: ColumnField): Column {
  if (isOrder) return new TextColumn();
  const { type } = fields[field] ?? SYSTEM_FIELDS[field] ?? {};
  const isNumber = key === undefined && (type === 'integer' || type === 'instant');
  return isNumber ? new NumberColumn() : new CodeColumn();
}

/**
 * The columns of a table that were used last, as far as they fit into the memory for them. They follow the numbers of
 * changes, so there are none while no feed is written.
 */
export class ColumnCache {
  /** The least recently used first. */
  private readonly kept = new Map<string, KeptColumn>();
  /** The bytes of those kept and those in the making. */
  private bytes = 0;
  private readonly making = new Map<string, Promise<void>>();
  /** Columns with too many values, and lists of columns that do not fit together, with the moments when they did not. */
  private readonly refused = new Map<string, Moment>();
  private readonly selectMoment: string;

  constructor(
    private readonly database: Pick<SqliteDatabase, 'read' | 'inSnapshot'>,
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
    private readonly tuning: Pick<FacetTuning, 'rows' | 'columnBytes' | 'columnChanges' | 'fewChanges'>,
  ) {
    const { name } = table;
    this.selectMoment = `SELECT epoch, floor, ${newestChange(name)} FROM feeds WHERE resource = '${name}'`;
  }

  /** Makes the columns that are missing, and lets the others follow many changes, unless they do not fit together. */
  async prepare(fields: readonly ColumnField[]): Promise<void> {
    const now = this.momentOf(this.database);
    const names = fields.map(columnName);
    const all = JSON.stringify(names);
    for (const [at, field] of now ? fields.entries() : []) {
      const name = names[at] as string;
      if (!now || this.isRefused(all, now)) return;
      const kept = this.current(name, now);
      if (this.isRefused(name, now) || (kept && lag(kept, now) <= this.tuning.fewChanges)) continue;
      // The service does it in its own turn, because others wait for it too.
      const making =
        this.making.get(name) ??
        this.database
          .inSnapshot(async (reader) => {
            if (kept) await this.at(reader, [field], SERVICE_TURN);
            else await this.make(reader, field, names);
          })
          .finally(() => this.making.delete(name));
      this.making.set(name, making);
      await making.catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error;
      });
    }
  }

  /** The column, perhaps without the last changes. It does not count as used. */
  peek(field: ColumnField): Column | undefined {
    return this.kept.get(columnName(field))?.column;
  }

  /** The column, if it lacks no more changes than it follows. It was used now. */
  private current(name: string, { epoch, floor, change }: Now): KeptColumn | undefined {
    const kept = this.kept.get(name);
    if (kept?.moment.epoch !== epoch || kept.moment.change < floor) return undefined;
    if (lag(kept, { change }) > this.tuning.columnChanges) return undefined;
    this.kept.delete(name);
    this.kept.set(name, kept);
    return kept;
  }

  private isRefused(name: string, { epoch, change }: Moment): boolean {
    const moment = this.refused.get(name);
    return moment?.epoch === epoch && change - moment.change < this.tuning.columnChanges;
  }

  private refuse(name: string, moment: Moment): void {
    this.refused.set(name, moment);
    const [oldest] = this.refused.keys();
    if (this.refused.size > MAX_COLUMNS && oldest !== undefined) this.refused.delete(oldest);
  }

  private momentOf(reader: Reader): Now | undefined {
    const row = reader.read(
      this.selectMoment,
      (statement) => statement.get([]) as [string, number, number] | undefined,
    );
    return row && { epoch: row[0], floor: row[1], change: row[2] };
  }

  /** @param together the names of the columns that a query needs with it */
  private async make(reader: Reader, field: ColumnField, together: readonly string[]): Promise<void> {
    const moment = this.momentOf(reader);
    if (!moment) return;
    const name = columnName(field);
    const column = emptyColumn(this.table, field);
    const any: Filter = { field: field.field, operator: 'exists', value: true };
    const all =
      column instanceof CodeColumn
        ? rowsOfFacet(this.table, field, undefined)
        : [rowsWithValue({ ...this.table, hasAttributes: false }, any)];
    const time = this.budget.startUnlimited();
    const size = new AdaptiveBatchSize(time, 1, this.tuning.rows);
    this.drop(name);
    let bytes = 0;
    /** Reserves the memory of the column. @returns the name of what does not fit */
    const unfit = () => {
      const others = together.map((other) => this.kept.get(other)?.bytes ?? 0);
      this.bytes -= bytes;
      bytes = bytesOf(name, column);
      this.bytes += bytes;
      if (bytes > this.tuning.columnBytes) return name;
      if (bytes + others.reduce((sum, other) => sum + other, 0) > this.tuning.columnBytes)
        return JSON.stringify(together);
      this.makeRoom();
      return undefined;
    };
    try {
      for (const rows of all) {
        if (!rows) return this.refuse(name, moment);
        for await (const parts of slicesOfValues(reader, rows, size))
          for (const { where } of parts) {
            const from = `FROM ${rows.source} WHERE ${where.text}`;
            const isWhole =
              column instanceof CodeColumn
                ? idsByValue(reader, rows.column, from, where).every(([value, ids]) => column.add(value, ids))
                : valuesById(reader, rows.column, from, where).every(([id, value]) => column.set(id, value));
            const refused = isWhole ? unfit() : name;
            if (refused !== undefined) return this.refuse(refused, moment);
          }
      }
      for (const rest = column.finish(); !rest.next().done; ) await time.checkpoint();
      const refused = unfit();
      if (refused !== undefined) return this.refuse(refused, moment);
    } finally {
      this.bytes -= bytes;
    }
    this.keep(name, column, moment);
  }

  /**
   * Returns those of the columns that there are, as they are in the snapshot of a reader. To follow the changes has no
   * time limit: the next query needs them no less.
   * @param reader has read nothing from its snapshot yet
   * @param most columns that lack more changes are left out
   */
  async at(
    reader: Reader,
    fields: readonly ColumnField[],
    turn: Turn,
    most = Number.POSITIVE_INFINITY,
  ): Promise<Columns> {
    const now = this.momentOf(reader);
    const found = new Map<string, Column>();
    if (!now) return found;
    // From here to the first wait no other query brings a column further than this snapshot.
    const behind: { name: string; known: KeptColumn; value: Sql; column: Column }[] = [];
    let from = now.change;
    for (const field of fields) {
      const name = columnName(field);
      const kept = this.current(name, now);
      if (!kept || lag(kept, now) > most) continue;
      const isCurrent = kept.moment.change === now.change;
      const column = isCurrent ? kept.column : kept.column.fork();
      found.set(name, column);
      if (isCurrent) continue;
      behind.push({ name, known: kept, value: currentValue(field), column });
      from = Math.min(from, kept.moment.change);
    }
    const columns = behind.map(({ value }) => value);
    for await (const records of behind.length > 0 ? this.changes(reader, columns, from, turn) : [])
      for (const [id, , ...values] of records)
        for (const [at, { name, column }] of behind.entries())
          if (!column.set(id, values[at] ?? null)) found.delete(name);
    for (const { name, known, column } of behind)
      if (!found.has(name)) this.drop(name);
      else if (this.kept.get(name) === known) this.keep(name, column, now);
    return found;
  }

  /** The records that changed behind a number, with these values, and those deleted, without values. */
  private async *changes(
    reader: Reader,
    columns: readonly Sql[],
    from: number,
    turn: Turn,
  ): AsyncGenerator<readonly [Id, number, ...ColumnValue[]][], void, void> {
    const { name } = this.table;
    const next = (row: string, source: string, condition: string) =>
      `SELECT * FROM (SELECT ${row} FROM ${source} WHERE ${condition}change > ? ORDER BY change LIMIT ?)`;
    const record = 'id, change, fields, created_at, updated_at';
    const deleted = 'id, change, NULL, NULL, NULL';
    // As JSON, numbers are exact.
    const text = `SELECT group_concat(json_array(${['id, change', ...columns.map((column) => column.text)]})) FROM (
      ${next(record, `${name} INDEXED BY ${indexName(name, 'change')}`, '')} UNION ALL
      ${next(deleted, 'tombstones INDEXED BY tombstones_change', `resource = '${name}' AND `)}
      ORDER BY change LIMIT ?)`;
    const values = columns.flatMap((column) => column.values);
    const size = new AdaptiveBatchSize(this.budget.startUnlimited(turn));
    for (let after = from, isOver = false; !isOver; ) {
      const rows = await size.next();
      const [found] = reader.read(
        text,
        (statement) => statement.get([...values, after, rows, after, rows, rows]) as [string | null],
      );
      const records = JSON.parse(`[${found ?? ''}]`) as [Id, number, ...ColumnValue[]][];
      yield records;
      after = Math.max(after, ...records.map(([, change]) => change));
      isOver = records.length < rows;
    }
  }

  private keep(name: string, column: Column, moment: Moment): void {
    this.drop(name);
    const bytes = bytesOf(name, column);
    this.kept.set(name, { column, moment, bytes });
    this.bytes += bytes;
    this.makeRoom();
  }

  private drop(name: string): void {
    this.bytes -= this.kept.get(name)?.bytes ?? 0;
    this.kept.delete(name);
  }

  private makeRoom(): void {
    for (const oldest of this.kept.keys()) {
      if (this.bytes <= this.tuning.columnBytes && this.kept.size <= MAX_COLUMNS) return;
      this.drop(oldest);
    }
  }
}

/** The number of changes that a column lacks. */
function lag({ moment }: KeptColumn, now: Pick<Moment, 'change'>): number {
  return now.change - moment.change;
}

function bytesOf(name: string, column: Column): number {
  return COLUMN_BYTES + 2 * name.length + column.bytes;
}

/** The path of a field in the text of the fields; null if no record has the key. */
export function pathIn({ field, key }: FacetField): string | null {
  return key === undefined ? `$.${field}` : pathOf(key);
}

/** The value of a field in a row of the table. */
function currentValue(field: ColumnField): Sql {
  return field.field in SYSTEM_FIELDS ? sql(columnOf(field.field)) : sql('fields -> ?', pathIn(field));
}

function idsByValue(reader: Reader, column: string, from: string, { values }: Sql): [FacetValue, Id[]][] {
  const found = reader.read(
    `SELECT ${column}, group_concat(id) ${from} GROUP BY 1`,
    (statement) => statement.all([...values]) as [StoredValue, string][],
  );
  return found.map(([value, ids]) => [facetValue(value), idsIn(ids)]);
}

/** For values of which few records share one. As JSON, numbers are exact. */
function valuesById(reader: Reader, column: string, from: string, { values }: Sql): [Id, ColumnValue][] {
  const [found] = reader.read(
    `SELECT group_concat(json_array(id, ${column})) ${from}`,
    (statement) => statement.get([...values]) as [string | null],
  );
  return JSON.parse(`[${found ?? ''}]`) as [Id, ColumnValue][];
}
