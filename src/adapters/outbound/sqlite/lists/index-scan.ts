import type { Position, Value } from '../../../../application/ports/list-query.js';
import { type Id, MAX_ID } from '../../../../domain/record.js';
import type { Reader } from '../connection/connection.js';
import { contains, narrowed, type Range, rangeCondition } from '../sql/filter.js';
import { allOf, ID, type Sql, sql } from '../sql/schema.js';

/** Part of one index, in one direction. Rows that have the same value of the column tie. */
export interface IndexScan {
  /** The table and the index, or the table with the values of lists. */
  readonly source: string;
  readonly column: string;
  readonly descending: boolean;
  /** The order of ids among ties. The index itself has the order of the scan only if both directions are the same. */
  readonly idDescending: boolean;
  /** The values of the column. */
  readonly range: Range;
  /** A condition on every row of the scan that the index serves. */
  readonly fixed?: Sql;
  /** The values that {@link fixed} allows, if they are several. Only for scans by id. */
  readonly union?: Union;
}

/** Values whose rows are read together in the order of ids. A record may have several of them. */
export interface Union {
  /** What is compared with each value, in the rows of a field if the source is the table of values. */
  readonly column: string;
  readonly field?: Sql;
  /** A statement that returns them as `value`. */
  readonly values: Sql;
  readonly count: number;
}

/** The name of the rows of a scan in a statement that also has rows of the table. */
export const SEEK = 'seek';

/** A row of a scan by its value and, if the scan is not by id, its id. */
export interface Place {
  readonly value: Value;
  readonly id?: Id | undefined;
}

/** The place behind which a scan continues. */
export interface Start extends Place {
  readonly inclusive: boolean;
}

/** @param position in a list that has the order of the scan */
export function startAt({ values: [value, id], inclusive }: Position): Start {
  if (value === undefined || value === null)
    throw new Error('The position has no value of the first key of the order.');
  return { value, inclusive, ...(id !== undefined && { id: Number(id) }) };
}

/**
 * The rows behind one place and up to another. Each range is one range of the index: the other ties of the first place,
 * what lies between, and the ties of the last place. `(value, id) > (?, ?)` would read all ties of the first place.
 * @param upTo included; without an id with all its ties
 */
export function rangesOf(scan: IndexScan, after?: Start, upTo?: Place): Sql[] {
  const { column, descending, idDescending, range, fixed } = scan;
  const rows = (...conditions: Sql[]) => allOf(fixed ? [fixed, ...conditions] : conditions);
  if (column === ID) {
    const end = upTo && { value: upTo.value, inclusive: true };
    return [rows(rangeCondition(ID, narrowed(range, descending, after, end)))];
  }
  const [further, notFurther] = idDescending ? ['<', '>='] : ['>', '<='];
  const tied = ({ value }: Place) => sql(`${column} = ?`, value);
  const behind = after && sql(`${ID} ${further}${after.inclusive ? '=' : ''} ?`, after.id);
  const until = upTo?.id === undefined ? [] : [sql(`${ID} ${notFurther} ?`, upTo.id)];
  if (after && behind && upTo && isSame(after.value, upTo.value))
    return [rows(tied(after), behind, ...until)];
  const beyond = (place: Place | undefined) => place && { value: place.value, inclusive: false };
  return [
    ...(after && behind && contains(range, after.value) ? [rows(tied(after), behind)] : []),
    rows(rangeCondition(column, narrowed(range, descending, beyond(after), beyond(upTo)))),
    ...(upTo ? [rows(tied(upTo), ...until)] : []),
  ];
}

/** @param a a value of an index; a boolean attribute is a Buffer */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || (Buffer.isBuffer(a) && Buffer.isBuffer(b) && a.equals(b));
}

/** The next rows of a list. */
export interface NextRows {
  /** A statement of their ids, in the order of the list; undefined if there are none. */
  readonly ids: Sql | undefined;
  /** Whether its part of the list is over if there are fewer rows than were asked for. */
  readonly isLast: boolean;
}

/**
 * If values descend and ids ascend, SQLite would read all ties and sort them. So it gets the value of the last row, and
 * sorts only the rows before the ties of this value.
 */
export function nextRows(reader: Reader, scan: IndexScan, after: Start | undefined, count: number): NextRows {
  if (scan.union) return { ids: unitedRows(scan, scan.union, after, count), isLast: true };
  const isIndexOrder = scan.column === ID || scan.idDescending === scan.descending;
  const value = isIndexOrder ? undefined : valueFurther(reader, scan, after, count);
  const upTo = value === undefined ? undefined : { value };
  return { ids: rowsIn(scan, rangesOf(scan, after, upTo), count), isLast: !upTo };
}

/**
 * The statement of the next rows of a union. The first `count` of them lie up to the id at which the first value has
 * `count` rows, and up to there no value has more. So only these are read and sorted. The statement is its own
 * snapshot: it finds the values of a prefix again, so it misses no record that gets a new one meanwhile.
 */
function unitedRows(scan: IndexScan, union: Union, after: Start | undefined, count: number): Sql {
  const { source, descending, range } = scan;
  const { text, values } = rangeCondition(ID, narrowed(range, descending, after));
  const place = unionPlace(scan, { ...union, values: sql('SELECT value FROM wanted') }, after, count);
  const { column, field } = union;
  const end = descending ? `>= coalesce((${place.text}), 0)` : `<= coalesce((${place.text}), ${MAX_ID})`;
  return sql(
    `WITH wanted(value) AS MATERIALIZED (${union.values.text})
    SELECT DISTINCT ${ID}, ${ID} FROM ${source}
      WHERE ${field?.text ?? 'TRUE'} AND ${column} IN (SELECT value FROM wanted) AND (${text}) AND ${ID} ${end}
      ORDER BY 1${descending ? ' DESC' : ''} LIMIT ?`,
    ...union.values.values,
    ...(field?.values ?? []),
    ...values,
    ...place.values,
    count,
  );
}

/** A statement of the first id at which a value of a union has `count` rows; null if none has so many. */
function unionPlace(
  { source, descending, range }: IndexScan,
  { column, field, values }: Union,
  after: Start | undefined,
  count: number,
): Sql {
  const ids = rangeCondition(ID, narrowed(range, descending, after));
  return sql(
    `SELECT ${descending ? 'max' : 'min'}(place) FROM (SELECT (
      SELECT ${ID} FROM ${source} WHERE ${field?.text ?? 'TRUE'} AND ${column} = one.value AND (${ids.text})
        ORDER BY ${ID}${descending ? ' DESC' : ''} LIMIT 1 OFFSET ?) AS place FROM (${values.text}) AS one)`,
    ...(field?.values ?? []),
    ...ids.values,
    count - 1,
    ...values.values,
  );
}

/**
 * The place of a row that is at least `count` rows further, at most twice as many; undefined if there is none. In a
 * union of n values it is the id at which the first value has `count` / n rows.
 */
export function placeFurther(
  reader: Reader,
  scan: IndexScan,
  after: Start | undefined,
  count: number,
): Place | undefined {
  if (scan.union) {
    const { text, values } = unionPlace(scan, scan.union, after, Math.ceil(count / scan.union.count));
    const [value] = reader.read(text, (statement) => statement.get([...values]) as [Id | null]);
    return value === null ? undefined : { value };
  }
  for (const range of rangesOf(scan, after)) {
    const { text, values } = rowsIn(scan, [range], 1);
    const row = reader.read(
      `${text} OFFSET ?`,
      (statement) => statement.get([...values, count - 1]) as [Id, Value] | undefined,
    );
    if (row) return scan.column === ID ? { value: row[1] } : { value: row[1], id: row[0] };
  }
  return undefined;
}

/** The value of the row that is `count` rows behind the ties of a place. */
function valueFurther(
  reader: Reader,
  { source, column, descending, range }: IndexScan,
  after: Start | undefined,
  count: number,
): Value | undefined {
  const start = after && { value: after.value, inclusive: false };
  const { text, values } = rangeCondition(column, narrowed(range, descending, start));
  const row = reader.read(
    `SELECT ${column} FROM ${source} WHERE ${text} ORDER BY ${column}${descending ? ' DESC' : ''} LIMIT 1 OFFSET ?`,
    (statement) => statement.get([...values, count - 1]) as [Value] | undefined,
  );
  return row?.[0];
}

/** A statement of the ids and the values of the first rows. SQLite merges the ranges. */
function rowsIn(
  { source, column, descending, idDescending }: IndexScan,
  ranges: readonly Sql[],
  count: number,
): Sql {
  const parts = ranges.map(({ text }) => `SELECT ${ID}, ${column} FROM ${source} WHERE ${text}`);
  const byId = `1${idDescending ? ' DESC' : ''}`;
  const order = column === ID ? byId : `2${descending ? ' DESC' : ''}, ${byId}`;
  const values = ranges.flatMap((range) => range.values);
  return sql(`${parts.join(' UNION ALL ')} ORDER BY ${order} LIMIT ?`, ...values, count);
}
