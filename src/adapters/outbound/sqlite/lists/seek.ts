import type {
  AttributeFilter,
  Comparison,
  Filter,
  Membership,
  RecordTable,
} from '../../../../application/ports/list-query.js';
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
import { type IndexScan, SEEK, type Union } from './index-scan.js';

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

/** A seek with the number of its rows. */
export interface SizedSeek extends Seek {
  /** Exact if it is few, else an estimate. */
  readonly count: number;
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
  const source = `${valuesTable(table.name)} AS ${SEEK}`;
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

/** The places between the first and the last row at which so many rows are looked at. */
const SAMPLES = [0, 0.25, 0.5, 0.75];
const SAMPLED_ROWS = 32;

/** The most values of the index of values whose rows are estimated, one after the other. */
const MAX_SAMPLED = 4;

/**
 * Returns the seeks with their numbers of rows. No more rows are counted than the fewest before.
 * @param maxFew the most rows that are few
 */
export function sized(reader: Reader, seeks: readonly Seek[], maxFew: number): SizedSeek[] {
  let fewest = maxFew + 1;
  return seeks.map((seek) => {
    const count = sizeOf(reader, seek, maxFew, fewest);
    fewest = Math.min(fewest, count);
    return { ...seek, count };
  });
}

function sizeOf(reader: Reader, seek: Seek, maxFew: number, limit: number): number {
  const { source, column, found, values } = seek;
  const isSampled = values?.length === 1 || (column === VALUE && Number(values?.length) <= MAX_SAMPLED);
  if (values && isSampled && column !== ID)
    return values.reduce<number>((sum, value) => sum + estimatedRows(reader, seek, value, maxFew, limit), 0);
  return numberOf(reader, countUpTo(source, found, limit));
}

function countUpTo(source: string, { text, values }: Sql, limit: number): Sql {
  return sql(`SELECT count(*) FROM (SELECT 1 FROM ${source} WHERE ${text} LIMIT ?)`, ...values, limit);
}

/**
 * The number of rows of one value, estimated from how far the ids of some rows lie apart at a few places. If they are few,
 * they are counted.
 */
function estimatedRows(
  reader: Reader,
  seek: Seek,
  value: StoredValue,
  maxFew: number,
  limit: number,
): number {
  const { source, column } = seek;
  const { text, values } = allOf([...fieldOf(seek), sql(`${column} = ?`, value)]);
  const rows = `SELECT id FROM ${source} WHERE ${text}`;
  const spans = SAMPLES.map((part) => {
    const place = `(low + (high - low) * ${part})`;
    return `coalesce((${rows} AND id >= ${place} ORDER BY id LIMIT 1 OFFSET ?), high) - ${place}`;
  });
  const count = countUpTo(source, { text, values }, limit);
  const [estimate, counted] = reader.read(
    `SELECT estimate, CASE WHEN coalesce(estimate, 0) <= ? THEN (${count.text}) END FROM (
      SELECT ? * (high - low) / (${spans.join(' + ')}) AS estimate FROM (
        SELECT (${rows} ORDER BY id LIMIT 1) AS low, (${rows} ORDER BY id DESC LIMIT 1) AS high))`,
    (statement) =>
      statement.get([
        2 * maxFew,
        ...count.values,
        SAMPLES.length * SAMPLED_ROWS,
        ...SAMPLES.flatMap(() => [...values, SAMPLED_ROWS]),
        ...values,
        ...values,
      ]) as [number | null, number | null],
  );
  return counted !== null && counted <= maxFew ? counted : Math.max(estimate ?? 0, counted ?? 0, maxFew + 1);
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
 * Returns one of the seeks whose records can be read in the order of their ids: the smallest of those with a single
 * value, else one with few values.
 */
export function driverOf(reader: Reader, seeks: readonly (Seek & { count?: number })[]): Driver | undefined {
  const others = seeks.filter(({ column }) => column !== ID);
  const [smallest] = others
    .filter(({ values }) => values?.length === 1)
    .toSorted((a, b) => (a.count ?? 0) - (b.count ?? 0));
  if (smallest) return { ...smallest, fixed: smallest.found };
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
