import type {
  AttributeFilter,
  Comparison,
  Filter,
  Membership,
  RecordTable,
} from '../../../../application/ports/list-query.js';
import type { Id } from '../../../../domain/record.js';
import type { Reader } from '../connection/connection.js';
import {
  attributeRange,
  comparedColumn,
  comparedValues,
  conditionOf,
  type IndexedTable,
  isRange,
  type Range,
  rangeCondition,
  rangeOf,
  wantedValues,
} from '../sql/filter.js';
import {
  allOf,
  attributeName,
  ID,
  indexedBy,
  isAmong,
  isOneOf,
  numberOf,
  ofField,
  type Sql,
  type StoredValue,
  sql,
  valueRows,
  valuesTable,
} from '../sql/schema.js';
import type { IndexScan, Union } from './index-scan.js';

/** The most rows that are few: they are read and sorted at once, fewer if each one costs more. */
export const MAX_FEW = 1_000;

/** The most values whose rows one scan unites. */
const MAX_VALUES = 100;

/** The column of {@link valuesTable}. */
export const VALUE = 'value';

/** Filters that an index serves without reading other rows: some values, or one range of values. */
export interface Seek {
  /** The index on a column, or the table of values. */
  readonly source: string;
  /** What the source orders; in the table of values, the rows of one field. */
  readonly column: string;
  readonly field?: Sql;
  /** The values if they are listed, else their range. */
  readonly values?: readonly StoredValue[];
  readonly range?: Range;
  /** The condition on the rows of the source. */
  readonly found: Sql;
  /** The records that it finds, as rows of the table. */
  readonly rows: { readonly source: string; readonly fixed: Sql };
  readonly served: readonly Filter[];
}

/** A seek with the number of its rows, up to a limit. */
export interface CountedSeek extends Seek {
  readonly count: number;
  /** The highest id of the counted rows. */
  readonly lastId: Id;
}

/**
 * Every way in which an index finds what filters match: one for each column, one for each filter of values, and one for
 * the range of each attribute.
 */
export function seeksOf(table: IndexedTable, filters: readonly Filter[]): Seek[] {
  const columns = new Map<string, Filter[]>();
  const ranges = new Map<string, AttributeFilter[]>();
  const seeks: Seek[] = [];
  for (const filter of filters) {
    const column = isMembership(filter) || isRange(filter) ? comparedColumn(table, filter) : undefined;
    if (column !== undefined) columns.set(column, [...(columns.get(column) ?? []), filter]);
    const wanted = wantedValues(table, filter);
    if (wanted) seeks.push(ofValues(table, wanted, [filter]));
    else if (table.fields[filter.field]?.isList && filter.operator === 'prefix')
      seeks.push(ofValues(table, { field: filter.field, range: rangeOf(table, [filter]) }, [filter]));
    else if (table.hasAttributes && filter.operator === 'attribute' && isAttributeRange(filter)) {
      const name = attributeName(filter.field, filter.key);
      ranges.set(name, [...(ranges.get(name) ?? []), filter]);
    }
  }
  return [
    ...[...columns].map(([column, own]) => ofColumn(table, column, own)),
    ...seeks,
    ...[...ranges].map(([field, own]) => ofValues(table, { field, range: attributeRange(own) }, own)),
  ];
}

function ofColumn(table: RecordTable, column: string, filters: readonly Filter[]): Seek {
  const source = indexedBy(table, column);
  const member = filters.find(isMembership);
  if (!member) {
    const range = rangeOf(table, filters);
    const found = rangeCondition(column, range);
    return { source, column, range, found, rows: { source, fixed: found }, served: filters };
  }
  const found = conditionOf(table, member, column);
  const values = comparedValues(table, member);
  return { source, column, values, found, rows: { source, fixed: found }, served: [member] };
}

function ofValues(
  table: RecordTable,
  { field, values, range = {} }: { field: string; values?: readonly StoredValue[]; range?: Range },
  served: readonly Filter[],
): Seek {
  const source = valuesTable(table.name);
  const among = values ? isOneOf(VALUE, values) : rangeCondition(VALUE, range);
  const found = allOf([ofField(field), among]);
  const rows = { source: indexedBy(table, ID), fixed: isAmong(source, found) };
  return {
    source,
    column: VALUE,
    field: ofField(field),
    ...(values ? { values } : { range }),
    found,
    rows,
    served,
  };
}
function isMembership(filter: Filter): filter is Comparison | Membership {
  return filter.operator === 'eq' || filter.operator === 'in';
}

/** Whether the values that match are a range of those of the attribute. */
function isAttributeRange(filter: AttributeFilter): boolean {
  return 'comparison' in filter || ('exists' in filter && filter.exists);
}

/** Counts the rows of each seek: up to one more than few, and no more than the fewest before. */
export function counted(reader: Reader, seeks: readonly Seek[]): CountedSeek[] {
  let fewest = MAX_FEW + 1;
  return seeks.map((seek) => {
    const { source, found } = seek;
    const [count, lastId] = reader.read(
      `SELECT count(*), coalesce(max(id), 0) FROM (SELECT id FROM ${source} WHERE ${found.text} LIMIT ?)`,
      (statement) => statement.get([...found.values, fewest]) as [number, Id],
    );
    fewest = Math.min(fewest, count);
    return { ...seek, count, lastId };
  });
}

/** Whether reading the rows of a seek, though they are many, takes less than comparing each row of the table. */
export function isSelective({ column, values }: Seek): boolean {
  return column === VALUE || values?.length === 1;
}

/** How the records of a seek are read in the order of their ids. */
export interface Driver extends Pick<IndexScan, 'source' | 'union'> {
  readonly fixed: Sql;
  /** How the records are read as rows of the table. */
  readonly rows: Seek['rows'];
  readonly served: readonly Filter[];
}

/**
 * Returns one of the seeks whose records can be read in the order of their ids: one with a single value, and of these
 * the one whose records are farthest apart; else one with few values.
 */
export function driverOf(reader: Reader, seeks: readonly (Seek & { lastId?: Id })[]): Driver | undefined {
  const others = seeks.filter(({ column }) => column !== ID);
  const [sparsest] = others
    .filter(({ values }) => values?.length === 1)
    .toSorted((a, b) => (b.lastId ?? 0) - (a.lastId ?? 0));
  if (sparsest) return { ...sparsest, fixed: sparsest.found };
  for (const seek of others) {
    const union = unionOf(reader, seek);
    if (!union) continue;
    const { text, values } = union.values;
    return {
      ...seek,
      fixed: allOf([...fieldOf(seek), sql(`${seek.column} IN (${text})`, ...values)]),
      union,
    };
  }
  return undefined;
}

function fieldOf({ field }: Pick<Seek, 'field'>): Sql[] {
  return field ? [field] : [];
}

/** @returns undefined if a seek has many values, or may have */
function unionOf(reader: Reader, seek: Seek): Union | undefined {
  const { column, field, range, served } = seek;
  const union = { column, ...(field && { field }) };
  if (seek.values) {
    const { length: count } = seek.values;
    return count === 0 || count > MAX_VALUES
      ? undefined
      : { ...union, values: valueRows(seek.values), count };
  }
  if (served[0]?.operator !== 'prefix' || !range) return undefined;
  const values = valuesIn(range, seek);
  const some = sql(`SELECT count(*) FROM (${values.text} LIMIT ?)`, ...values.values, MAX_VALUES + 1);
  const count = numberOf(reader, some);
  return count > MAX_VALUES ? undefined : { ...union, values, count };
}

/** A statement of the values of a range. Each is found behind the one before, so the rows of a value are not read. */
function valuesIn(range: Range, seek: Seek): Sql {
  const { source, column } = seek;
  const first = allOf([...fieldOf(seek), rangeCondition(column, range)]);
  const next = allOf([
    ...fieldOf(seek),
    sql(`${column} > found.value`),
    rangeCondition(column, { high: range.high }),
  ]);
  return sql(
    `WITH RECURSIVE found(value) AS (
      SELECT min(${column}) FROM ${source} WHERE ${first.text}
      UNION ALL
      SELECT (SELECT min(${column}) FROM ${source} WHERE ${next.text}) FROM found WHERE found.value IS NOT NULL)
    SELECT value FROM found WHERE value IS NOT NULL`,
    ...first.values,
    ...next.values,
  );
}
