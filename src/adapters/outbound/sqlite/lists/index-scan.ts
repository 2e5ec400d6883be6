import type {
  Filter,
  ListQuery,
  Position,
  RecordTable,
  Value,
} from '../../../../application/ports/list-query.js';
import type { Id } from '../../../../domain/record.js';
import { scanOrder } from '../../sql/keyset.js';
import type { Reader, Sql } from '../connection/connection.js';
import {
  type Bound,
  comparedColumn,
  contains,
  isRange,
  narrowed,
  type Range,
  rangeCondition,
  rangeOf,
} from '../sql/filter.js';
import { allOf, columnOf, ID, indexedBy, sql } from '../sql/schema.js';
import { seeksOf } from '../sql/seeks.js';

/** A part of one index that has exactly the records of a list, in their order. Rows with the same value tie. */
export interface IndexScan {
  /** The table and the index, or the table with the values of lists. */
  readonly source: string;
  readonly column: string;
  readonly descending: boolean;
  /** The order of ids among ties. The index itself has the order of the scan only if both directions are the same. */
  readonly idDescending: boolean;
  /** The values of the column. */
  readonly range: Range;
  /** A condition on every row of the scan that the index serves. Only for scans by id. */
  readonly fixed?: Sql;
}

/** @returns undefined if no index has exactly the records of the list, in their order */
export function indexScanOf(
  table: RecordTable,
  query: Pick<ListQuery, 'filters' | 'order' | 'from'>,
): IndexScan | undefined {
  const [first, second, ...more] = scanOrder(table, query, columnOf);
  if (!first || more.length > 0) return undefined;
  const { field, column, descending } = first;
  const isOwn = (filter: Filter) => isRange(filter) && comparedColumn(table, filter) === column;
  const own = query.filters.filter(isOwn);
  const [other, ...others] = query.filters.filter((filter) => !isOwn(filter));
  const spec = table.fields[field];
  // The index of a field that records may lack has only those that have a value, as has the list.
  const having: Filter[] = !spec || spec.required ? [] : [{ field, operator: 'exists', value: true }];
  const range = rangeOf(table, [...own, ...having]);
  const scan = { column, descending, idDescending: (second ?? first).descending, range };
  if (!other) return { ...scan, source: indexedBy(table, column) };
  const [seek] = others.length === 0 && !second ? seeksOf(table, [other]) : [];
  return seek?.values === 1 ? { ...scan, source: seek.source, fixed: seek.found } : undefined;
}

/** A row behind which a scan continues: its value and, if the scan is not by id, its id. */
interface Start extends Bound {
  readonly id?: Id | undefined;
}

/** @param position in a list that has the order of the scan */
function startAt({ values: [value, id], inclusive }: Position): Start {
  if (value === undefined || value === null)
    throw new Error('The position has no value of the first key of the order.');
  return { value, inclusive, ...(id !== undefined && { id: Number(id) }) };
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
 * @param from a position of the list
 */
export function nextRows(
  reader: Reader,
  scan: IndexScan,
  from: Position | undefined,
  count: number,
): NextRows {
  const after = from && startAt(from);
  const isIndexOrder = scan.column === ID || scan.idDescending === scan.descending;
  const last = isIndexOrder ? undefined : valueFurther(reader, scan, after, count);
  return { ids: rowsIn(scan, rangesOf(scan, after, last), count), isLast: last === undefined };
}

/**
 * The rows behind one place and up to the ties of a value. Each range is one range of the index: the other ties of the
 * place, what lies between, and the ties of the value. `(value, id) > (?, ?)` would read all ties of the place.
 */
function rangesOf(scan: IndexScan, after?: Start, last?: Value): Sql[] {
  const { column, descending, idDescending, range, fixed } = scan;
  const rows = (...conditions: Sql[]) => allOf(fixed ? [fixed, ...conditions] : conditions);
  if (column === ID) return [rows(rangeCondition(ID, narrowed(range, descending, after)))];
  const tied = (value: Value) => sql(`${column} = ?`, value);
  const behind = after && sql(`${ID} ${idDescending ? '<' : '>'}${after.inclusive ? '=' : ''} ?`, after.id);
  if (after && behind && after.value === last) return [rows(tied(after.value), behind)];
  const beyond = (value: Value | undefined) =>
    value === undefined ? undefined : { value, inclusive: false };
  return [
    ...(after && behind && contains(range, after.value) ? [rows(tied(after.value), behind)] : []),
    rows(rangeCondition(column, narrowed(range, descending, beyond(after?.value), beyond(last)))),
    ...(last === undefined ? [] : [rows(tied(last))]),
  ];
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
  const order = `ORDER BY ${column}${descending ? ' DESC' : ''} LIMIT 1 OFFSET ?`;
  const row = reader.row<[Value]>(
    sql(`SELECT ${column} FROM ${source} WHERE ${text} ${order}`, ...values, count - 1),
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
