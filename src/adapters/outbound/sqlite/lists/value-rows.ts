import type {
  FacetField,
  FacetValue,
  Filter,
  RecordTable,
} from '../../../../application/ports/list-query.js';
import { prefixRange } from '../../../../application/records/query-semantics.js';
import type { Id } from '../../../../domain/record.js';
import type { AdaptiveBatchSize } from '../connection/adaptive-batch-size.js';
import type { Reader } from '../connection/connection.js';
import { comparedColumn, type IndexedTable, type Range, rangeCondition, rangeOf } from '../sql/filter.js';
import {
  allOf,
  attributeName,
  columnOf,
  ID,
  indexedBy,
  ofField,
  type Sql,
  type StoredValue,
  sql,
  valuesTable,
} from '../sql/schema.js';
import { type Seek, VALUE } from './seek.js';

/** The rows of an index that are read in a turn. Reading one takes less than 100 ns. */
export const ROWS = { first: 4_096, min: 128, max: 65_536 };

/** Sizes, measured on a million sample products. */
export interface FacetTuning {
  /** How many rows of an index are read in a turn. */
  readonly rows: typeof ROWS;
  /** How many rows of an index are compared in the time that a record takes to read, and one more of its fields. */
  readonly record: number;
  readonly field: number;
  /** How many rows of an index are read in the time that comparing a record with a filter takes. */
  readonly checked: number;
  /** The most different values that are held if records are read, of all fields. */
  readonly maxValues: number;
  /** The most memory of the columns of a table. */
  readonly columnBytes: number;
  /** The most changes that a column follows. To make it again takes less than to follow more. */
  readonly columnChanges: number;
  /** The most changes that each request follows for itself. The service follows more, once for all. */
  readonly fewChanges: number;
}

export const FACET_TUNING: FacetTuning = {
  rows: ROWS,
  record: 14,
  field: 3,
  checked: 16,
  maxValues: 100_000,
  columnBytes: 128 * 1024 * 1024,
  columnChanges: 5_000,
  fewChanges: 100,
};

/** Rows of one index, in the order of their values, each with its ids in their order. */
export interface ValueRows {
  /** The table and the index, or the table with the values of lists. */
  readonly source: string;
  readonly column: string;
  /** A condition on every row that the index serves. */
  readonly fixed?: Sql | undefined;
  /** The conditions on the values: at most one bound on each side. */
  readonly low: Sql;
  readonly high?: Sql | undefined;
}

/** Some consecutive rows. */
export interface Part {
  readonly where: Sql;
  /** Whether it has all rows of each of its values. */
  readonly isWhole: boolean;
}

interface Row {
  readonly value: StoredValue;
  readonly id: Id;
}

/** The rows of the values that a seek finds. */
export function rowsOfSeek({ source, column, field, values, range = {} }: Seek): ValueRows[] {
  const rows = { source, column, fixed: field };
  return (
    values?.map((value) => ({ ...rows, ...only(column, value) })) ?? [{ ...rows, ...boundsOf(column, range) }]
  );
}

function only(column: string, value: StoredValue): Pick<ValueRows, 'low' | 'high'> {
  return { low: sql(`${column} >= ?`, value), high: sql(`${column} <= ?`, value) };
}

/**
 * The rows of all values of the field of a filter.
 * @returns undefined if no index has them
 */
export function rowsWithValue(table: IndexedTable, filter: Filter): ValueRows | undefined {
  const { name, fields, hasAttributes } = table;
  const isAttribute = filter.operator === 'attribute';
  if (isAttribute ? hasAttributes : fields[filter.field]?.isList) {
    const own = isAttribute ? attributeName(filter.field, filter.key) : filter.field;
    return { source: valuesTable(name), column: VALUE, fixed: ofField(own), ...boundsOf(VALUE, {}) };
  }
  const existing: Filter = { field: filter.field, operator: 'exists', value: true };
  const column = isAttribute ? undefined : comparedColumn(table, existing);
  if (column === undefined) return undefined;
  return { source: indexedBy(table, column), column, ...boundsOf(column, rangeOf(table, [existing])) };
}

function boundsOf(column: string, { low, high }: Range): Pick<ValueRows, 'low' | 'high'> {
  return { low: rangeCondition(column, { low }), high: high && rangeCondition(column, { high }) };
}

/**
 * Returns all rows in slices, each of which is some ranges of the index. A slice ends within a value that has many rows.
 * @throws AppError `query_too_expensive`
 */
export async function* slicesOfValues(
  reader: Reader,
  rows: ValueRows,
  size: AdaptiveBatchSize,
): AsyncGenerator<readonly Part[], void, void> {
  let after: Row | undefined;
  do {
    const end = rowFurther(reader, rows, after, await size.next());
    yield partsBetween(rows, after, end);
    after = end;
  } while (after);
}

/** The row that is at least `count` rows further, less than twice as many; undefined if there is none. */
function rowFurther(reader: Reader, rows: ValueRows, after: Row | undefined, count: number): Row | undefined {
  for (const { where } of partsBetween(rows, after)) {
    const { text, values } = where;
    const select = `SELECT ${rows.column}, ${ID} FROM ${rows.source} WHERE ${text} ORDER BY 1, 2 LIMIT 1 OFFSET ?`;
    const row = reader.read(
      select,
      (statement) => statement.get([...values, count - 1]) as [StoredValue, Id] | undefined,
    );
    if (row) return { value: row[0], id: row[1] };
  }
  return undefined;
}

/** The rows behind one row and up to another: the other ties of the first, what lies between, the ties of the last. */
function partsBetween({ column, fixed, low, high }: ValueRows, after?: Row, end?: Row): Part[] {
  const part = (isWhole: boolean, ...conditions: (Sql | undefined)[]): Part => ({
    where: allOf([fixed, ...conditions].filter((condition) => condition !== undefined)),
    isWhole,
  });
  const tied = ({ value }: Row) => sql(`${column} = ?`, value);
  const behind = after && sql(`${ID} > ?`, after.id);
  const until = end && sql(`${ID} <= ?`, end.id);
  if (after && end && isSameValue(after.value, end.value)) return [part(false, tied(after), behind, until)];
  const from = after ? sql(`${column} > ?`, after.value) : low;
  const to = end ? sql(`${column} < ?`, end.value) : high;
  return [
    ...(after ? [part(false, tied(after), behind)] : []),
    part(true, from, to),
    ...(end ? [part(false, tied(end), until)] : []),
  ];
}

function isSameValue(a: StoredValue, b: StoredValue): boolean {
  return a === b || (typeof a === 'object' && typeof b === 'object' && a[0] === b[0]);
}

/** SQLite has no booleans: the value index has them as blobs. */
export function facetValue(value: StoredValue): FacetValue {
  return typeof value === 'object' ? value[0] === 1 : value;
}

/** The rows of a facet: texts, then numbers and booleans. They are in the order of values with the same count. */
export function rowsOfFacet(
  table: RecordTable,
  { field, key }: FacetField,
  prefix: string | undefined,
): ValueRows[] {
  const isInTable = key !== undefined || table.fields[field]?.isList === true;
  const column = isInTable ? VALUE : columnOf(field);
  const source = isInTable ? valuesTable(table.name) : indexedBy(table, column);
  const name = key === undefined ? field : attributeName(field, key);
  const rows = { source, column, fixed: isInTable ? ofField(name) : undefined };
  const { from, before } = prefixRange(prefix ?? '');
  const texts = {
    ...rows,
    low: sql(`${column} >= ?`, from),
    high: before === undefined ? sql(`${column} < x''`) : sql(`${column} < ?`, before),
  };
  if (key === undefined || prefix !== undefined) return [texts];
  return [
    texts,
    { ...rows, low: sql(`${column} >= -9e999`), high: sql(`${column} < ''`) },
    { ...rows, low: sql(`${column} >= x''`) },
  ];
}
