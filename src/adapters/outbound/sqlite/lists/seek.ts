import type { Filter, RecordTable } from '../../../../application/ports/list-query.js';
import type { Id } from '../../../../domain/record.js';
import type { Reader } from '../connection/connection.js';
import {
  comparedColumn,
  conditionOf,
  isRange,
  listTerm,
  type Range,
  rangeCondition,
  rangeOf,
} from '../sql/filter.js';
import { allOf, ID, indexedBy, isAmong, numberOf, type Sql, sql, valuesTable } from '../sql/schema.js';
import type { IndexScan, Union } from './index-scan.js';

/** The most rows that are few: they are read and sorted at once, fewer if each one costs more. */
export const MAX_FEW = 1_000;

/** The most values whose rows one scan unites. */
const MAX_VALUES = 100;

/** The column of {@link valuesTable}. */
export const VALUE = 'value';

/** Filters that an index serves without reading other rows: some values, or one range of values. */
export interface Seek {
  /** The index on a column, or the table with the values of lists. */
  readonly source: string;
  /** What the source orders, and the beginning of a condition on it. */
  readonly column: string;
  readonly term: string;
  /** The values, if they are a range. */
  readonly range: Range | undefined;
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

/** Every way in which an index finds what filters match: one for each column, and one for each filter of a list. */
export function seeksOf(table: RecordTable, filters: readonly Filter[]): Seek[] {
  const columns = new Map<string, Filter[]>();
  for (const filter of filters) {
    const column = isMembership(filter) || isRange(filter) ? comparedColumn(table, filter) : undefined;
    if (column !== undefined) columns.set(column, [...(columns.get(column) ?? []), filter]);
  }
  const lists = filters.filter(({ field, operator }) => table.fields[field]?.isList && operator !== 'exists');
  return [
    ...[...columns].map(([column, own]) => {
      const source = indexedBy(table, column);
      return seekOf(table, { source, column, term: column }, own);
    }),
    ...lists.map((filter) => {
      const source = valuesTable(table.name);
      return seekOf(table, { source, column: VALUE, term: listTerm(filter.field) }, [filter]);
    }),
  ];
}

function seekOf(
  table: RecordTable,
  index: Pick<Seek, 'source' | 'column' | 'term'>,
  filters: readonly Filter[],
): Seek {
  const { source, term } = index;
  const values = filters.find(isMembership);
  const range = values ? undefined : rangeOf(table, filters);
  const found = values ? conditionOf(table, values, term) : rangeCondition(term, range ?? {});
  const isOfTable = source !== valuesTable(table.name);
  const rows = isOfTable
    ? { source, fixed: found }
    : { source: indexedBy(table, ID), fixed: isAmong(source, found) };
  return { ...index, range, found, rows, served: values ? [values] : filters };
}

function isMembership({ operator }: Filter): boolean {
  return operator === 'eq' || operator === 'in';
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
export function isSelective({ column, served: [filter] }: Seek): boolean {
  return column === VALUE || filter?.operator === 'eq';
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
    .filter(({ served: [filter] }) => filter?.operator === 'eq')
    .toSorted((a, b) => (b.lastId ?? 0) - (a.lastId ?? 0));
  if (sparsest) return { ...sparsest, fixed: sparsest.found };
  for (const seek of others) {
    const union = unionOf(reader, seek);
    if (!union) continue;
    const { text, values } = union.values;
    return { ...seek, fixed: sql(`${seek.term} IN (${text})`, ...values), union };
  }
  return undefined;
}

/** @returns undefined if a seek has many values, or may have */
function unionOf(reader: Reader, seek: Seek): Union | undefined {
  const { term, found, range, served } = seek;
  const [filter] = served;
  if (filter?.operator === 'in') {
    const values = sql('SELECT value FROM json_each(?)', ...found.values);
    const { length: count } = filter.values;
    return count > MAX_VALUES ? undefined : { term, values, count };
  }
  if (filter?.operator !== 'prefix' || !range) return undefined;
  const values = valuesIn(range, seek);
  const some = sql(`SELECT count(*) FROM (${values.text} LIMIT ?)`, ...values.values, MAX_VALUES + 1);
  const count = numberOf(reader, some);
  return count > MAX_VALUES ? undefined : { term, values, count };
}

/** A statement of the values of a range. Each is found behind the one before, so the rows of a value are not read. */
function valuesIn(range: Range, { source, column, term }: Seek): Sql {
  const first = rangeCondition(term, range);
  const next = allOf([sql(`${term} > found.value`), rangeCondition(term, { high: range.high })]);
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
