import type {
  AttributeEquality,
  AttributeFilter,
  Comparison,
  Filter,
  Membership,
  OptionalMembership,
  RecordTable,
  Value,
} from '../../../../application/ports/list-query.js';
import {
  attributeValues,
  comparedValue,
  compareValues,
  isFolded,
  prefixRange,
} from '../../../../application/records/query-semantics.js';
import {
  allOf,
  anyOf,
  attributeName,
  columnOf,
  foldedColumnOf,
  ID,
  indexName,
  isOneOf,
  ofField,
  type Sql,
  type StoredValue,
  sql,
  storedValue,
  valuesTable,
} from './schema.js';

const OPERATORS = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;

/** The column that a filter compares; undefined for attributes, lists and presence, which have no column. */
export function comparedColumn(table: RecordTable, filter: Filter): string | undefined {
  if (filter.operator === 'attribute' || filter.operator === 'search') return undefined;
  const spec = table.fields[filter.field];
  if (spec?.isList || spec?.type === 'presence') return undefined;
  return isFolded(table, filter) ? foldedColumnOf(filter.field) : columnOf(filter.field);
}

/**
 * The condition of a filter that compares one value of a row.
 * @param term the column; or `+column`, for which SQLite uses no index
 */
export function conditionOf(table: RecordTable, filter: Filter, term: string): Sql {
  if (filter.operator === 'attribute' || filter.operator === 'search')
    throw new Error('The filter compares no single value.');
  if (filter.operator === 'exists') return sql(`${term} IS ${filter.value ? 'NOT NULL' : 'NULL'}`);
  const values = comparedValues(table, filter);
  if (filter.operator === 'in') return isOneOf(term, values);
  if (filter.operator === 'inOrNone') return anyOf([sql(`${term} IS NULL`), isOneOf(term, values)]);
  const [value] = values;
  if (filter.operator !== 'prefix') return sql(`${term} ${OPERATORS[filter.operator]} ?`, value);
  return rangeCondition(term, rangeOfPrefix(String(value)));
}

/** A table with what its index of values serves. */
export interface IndexedTable extends RecordTable {
  /** Whether the index has the attributes of all records. False too if no filter asks for any. */
  readonly hasAttributes: boolean;
}

/**
 * The most filters whose values are looked up for a row one by one, each with its own text in the statement, and the most
 * values of a filter.
 */
const MAX_PROBES = 4;
const MAX_PROBED = 4;

/** The values of the index of values that match a filter; undefined if they are no list, or if the index is not used. */
export function wantedValues(
  table: IndexedTable,
  filter: Filter,
): { readonly field: string; readonly values: readonly StoredValue[] } | undefined {
  if (filter.operator === 'attribute') {
    if (!table.hasAttributes || !('value' in filter || 'values' in filter)) return undefined;
    const values = [...new Set(attributeValues(filter))].map(storedValue);
    return { field: attributeName(filter.field, filter.key), values };
  }
  if (!table.fields[filter.field]?.isList) return undefined;
  if (filter.operator === 'eq') return { field: filter.field, values: [filter.value] };
  return filter.operator === 'in' ? { field: filter.field, values: filter.values } : undefined;
}

/**
 * The condition that an index has one of few values of a row; undefined if they are many.
 * @param row what has the id of the row
 */
function probeOf(table: IndexedTable, filter: Filter, row: string): Sql | undefined {
  const probed = probedIndex(table, filter);
  if (!probed || probed.values.length > MAX_PROBED) return undefined;
  if (probed.values.length === 0) return sql('FALSE');
  const { source, of, column } = probed;
  const all = allOf([...of, isOneOf(column, probed.values), sql(`id = ${row}.id`)]);
  return sql(`EXISTS (SELECT 1 FROM ${source} WHERE ${all.text})`, ...all.values);
}

function probedIndex(table: IndexedTable, filter: Filter) {
  const wanted = wantedValues(table, filter);
  if (wanted)
    return {
      source: valuesTable(table.name),
      of: [ofField(wanted.field)],
      column: 'value',
      values: wanted.values,
    };
  if (filter.operator !== 'eq' && filter.operator !== 'in') return undefined;
  const column = comparedColumn(table, filter);
  if (column === undefined || column === ID) return undefined;
  const source = `${table.name} AS own INDEXED BY ${indexName(table.name, column)}`;
  return { source, of: [], column, values: comparedValues(table, filter) };
}

/** What it costs to look up values of a row, and to read only rows that have them, beside reading each row. */
const LOOKUP_COST = 1 / 8;
const FEWER_COST = 1 / 4;

/**
 * How many times as long it takes to check a row as to read its fields, approximately. Each attribute that is not looked
 * up in an index, and each list, is read on its own; other conditions cost little.
 */
export function rowCost(table: IndexedTable, filters: readonly Filter[]): number {
  const probes = probesOf(table, filters);
  const others = filters.filter((filter) => !probes.has(filter));
  if (probes.size > 0 && others.length === 0) return LOOKUP_COST;
  const isRead = (filter: Filter) => filter.operator === 'attribute' || table.fields[filter.field]?.isList;
  return Math.max(1, others.filter(isRead).length) * (probes.size > 0 ? FEWER_COST : 1);
}

/** The conditions of the filters that are looked up for a row one by one. */
export function probesOf(
  table: IndexedTable,
  filters: readonly Filter[],
  row = table.name,
): ReadonlyMap<Filter, Sql> {
  const probes = new Map<Filter, Sql>();
  for (const filter of filters) {
    const probe = probes.size < MAX_PROBES ? probeOf(table, filter, row) : undefined;
    if (probe) probes.set(filter, probe);
  }
  return probes;
}

/**
 * The conditions of filters that use no index of the order: the scan has chosen one.
 * @param filters the most selective first
 */
export function residualConditionsOf(table: IndexedTable, filters: readonly Filter[]): Sql[] {
  const probes = probesOf(table, filters);
  const others = filters.filter((filter) => !probes.has(filter));
  const columns = others.flatMap((filter) => {
    const column = comparedColumn(table, filter);
    return column === undefined ? [] : [conditionOf(table, filter, `+${column}`)];
  });
  const inText = others.filter((filter) => comparedColumn(table, filter) === undefined);
  const fields = new Set(inText.map(({ field }) => field));
  const listed = Object.keys(table.fields)
    .filter((field) => fields.has(field))
    .flatMap((field) => {
      return listConditions(
        table,
        field,
        inText.filter((filter) => filter.field === field),
      );
    });
  const attributes = others.filter((filter) => filter.operator === 'attribute');
  return [...probes.values(), ...columns, ...listed, ...attributesCondition(attributes)];
}

/**
 * The conditions on a list, or on the presence of a value, in the text of the fields. All filters `eq` are one condition,
 * so its text is the same for any number of them. Only a text that contains a prefix as `JSON.stringify` writes it is
 * parsed.
 * @param filters filters of one field
 */
function listConditions(table: RecordTable, field: string, filters: readonly Filter[]): Sql[] {
  const path = `'$.${field}'`;
  const equal = filters.flatMap((filter) => (filter.operator === 'eq' ? [filter.value] : []));
  const hasAll = sql(
    `NOT EXISTS (SELECT 1 FROM json_each(?) AS wanted WHERE NOT EXISTS (
      SELECT 1 FROM ${valuesTable(table.name)} WHERE field = ? AND value = wanted.value AND id = ${table.name}.id))`,
    JSON.stringify(equal),
    field,
  );
  const others = filters.flatMap((filter): Sql[] => {
    if (filter.operator === 'exists') return [conditionOf(table, filter, `fields -> ${path}`)];
    if (filter.operator !== 'in' && filter.operator !== 'prefix') return [];
    const { text, values } = conditionOf(table, filter, 'value');
    const hasOne = sql(`EXISTS (SELECT 1 FROM json_each(fields, ${path}) WHERE ${text})`, ...values);
    if (filter.operator === 'in') return [hasOne];
    return [sql('instr(fields, ?) > 0', JSON.stringify(filter.value).slice(0, -1)), hasOne];
  });
  return equal.length > 0 ? [hasAll, ...others] : others;
}

/**
 * One condition for all filters of attributes; none if there are none. Its text is the same for any filters, so clients
 * cannot fill the cache of statements. It searches the text of the fields for the longest attribute, as `JSON.stringify`
 * writes it, and parses only texts that contain it, each once. It compares all attributes as they are written, because
 * SQLite may read a number with another last bit.
 */
function attributesCondition(filters: readonly AttributeFilter[]): Sql[] {
  const length = ({ key, value }: AttributeEquality) => key.length + value.length;
  const equal = filters.filter((filter): filter is AttributeEquality => 'value' in filter);
  const [longest] = equal.toSorted((a, b) => length(b) - length(a));
  const others = filters.flatMap(attributeCondition);
  if (!longest) return others;
  const [written, other = null] = attributeValues(longest).map((value) =>
    JSON.stringify({ [longest.key]: value }).slice(1, -1),
  );
  const wanted = equal.map((filter) => [
    pathOf(filter.key),
    ...attributeValues(filter).map((value) => JSON.stringify(value)),
  ]);
  const condition = sql(
    `(instr(fields, ?) > 0 OR instr(fields, ?) > 0) AND NOT EXISTS (
      WITH wanted(path, written, other) AS MATERIALIZED (
        SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))
      SELECT 1 FROM wanted WHERE coalesce((fields -> path) NOT IN (written, other), TRUE))`,
    written,
    other,
    JSON.stringify(wanted),
  );
  return [condition, ...others];
}

function attributeCondition(filter: AttributeFilter): Sql[] {
  if ('value' in filter) return [];
  const path = pathOf(filter.key);
  if ('exists' in filter) return [sql(`(fields -> ?) IS ${filter.exists ? 'NOT NULL' : 'NULL'}`, path)];
  if ('values' in filter) {
    const written = attributeValues(filter).map((value) => JSON.stringify(value));
    return [sql('(fields -> ?) IN (SELECT value FROM json_each(?))', path, JSON.stringify(written))];
  }
  const { comparison, number } = filter;
  const near = neighbours(number);
  const isBelow = comparison === 'lt' || comparison === 'lte';
  const found = near.filter((one) => (one === number ? comparison.endsWith('e') : one < number === isBelow));
  return [
    sql(
      `json_type(fields, ?) IN ('integer', 'real')
        AND ((fields ->> ?) ${isBelow ? '<' : '>'} ? OR (fields -> ?) IN (SELECT value FROM json_each(?)))`,
      path,
      path,
      isBelow ? near[0] : near.at(-1),
      path,
      JSON.stringify(found.map((one) => JSON.stringify(one))),
    ),
  ];
}

/** By how many steps from one number to the next SQLite may miss a number of a text. It has been seen to miss by one. */
const MISSED_STEPS = 8;

/** The number and those next to it, in their order. */
function neighbours(number: number): number[] {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  // The bits of numbers of one sign have the order of their distance from 0.
  const placeOf = (bits: bigint) => (bits < 0n ? -(2n ** 63n) - bits : bits);
  const place = placeOf(view.getBigInt64(0));
  const all = Array.from({ length: 2 * MISSED_STEPS + 1 }, (_, at) => {
    view.setBigInt64(0, placeOf(place + BigInt(at - MISSED_STEPS)));
    return view.getFloat64(0);
  });
  return all.filter(Number.isFinite);
}

/**
 * The path of an attribute (https://www.sqlite.org/json1.html, "Path Arguments"); null if no record has the key. SQLite
 * ends a key at a quotation mark, even behind a backslash, and at NUL.
 */
export function pathOf(key: string): string | null {
  if (key.includes('\0')) return null;
  return `$.attributes."${JSON.stringify(key).slice(1, -1).replaceAll('\\"', '\\u0022')}"`;
}

/** The values of a filter as they are compared. */
export function comparedValues(
  table: RecordTable,
  filter: Comparison | Membership | OptionalMembership,
): readonly Value[] {
  const values = 'values' in filter ? filter.values : [filter.value];
  return values.map((value) => comparedValue(table, filter, value));
}

/** The values that filters of one attribute allow: numbers if they compare numbers, else all. */
export function attributeRange(filters: readonly AttributeFilter[]): Range {
  const bounds = filters.flatMap((filter): Range[] => {
    if (!('comparison' in filter)) return [];
    const bound = { value: filter.number, inclusive: filter.comparison.endsWith('e') };
    return [filter.comparison.startsWith('g') ? { low: bound } : { high: bound }];
  });
  if (bounds.length === 0) return {};
  const { low, high } = intersection(bounds);
  // SQLite orders all numbers before all texts.
  return {
    low: low ?? { value: LOWEST.integer, inclusive: true },
    high: high ?? { value: LOWEST.text, inclusive: false },
  };
}

export interface Bound {
  readonly value: Value;
  readonly inclusive: boolean;
}

/** The values of one column that match its filters. */
export interface Range {
  readonly low?: Bound | undefined;
  readonly high?: Bound | undefined;
}

/** Whether the values that match a filter are one range of its column. */
export function isRange(filter: Filter): boolean {
  if (filter.operator === 'exists') return filter.value;
  return !['ne', 'in', 'inOrNone', 'attribute', 'search'].includes(filter.operator);
}

/**
 * The range that all filters allow.
 * @param filters filters of one column, each a range
 */
export function rangeOf(table: RecordTable, filters: readonly Filter[]): Range {
  return intersection(filters.map((filter) => rangeOfOne(table, filter)));
}

function intersection(ranges: readonly Range[]): Range {
  return ranges.reduce<Range>(
    (range, { low, high }) => ({ low: tighterLow(range.low, low), high: tighterHigh(range.high, high) }),
    {},
  );
}

export function rangeCondition(column: string, { low, high }: Range): Sql {
  return allOf([
    ...(low ? [sql(`${column} >${low.inclusive ? '=' : ''} ?`, low.value)] : []),
    ...(high ? [sql(`${column} <${high.inclusive ? '=' : ''} ?`, high.value)] : []),
  ]);
}

/** The part of a range that lies between two bounds, in the direction of a scan. */
export function narrowed(range: Range, descending: boolean, start?: Bound, end?: Bound): Range {
  const [low, high] = descending ? [end, start] : [start, end];
  return { low: tighterLow(range.low, low), high: tighterHigh(range.high, high) };
}

export function contains({ low, high }: Range, value: Value): boolean {
  const here: Bound = { value, inclusive: true };
  return tighterLow(low, here) === here && tighterHigh(high, here) === here;
}

/** The higher of two lower bounds. */
function tighterLow(a: Bound | undefined, b: Bound | undefined): Bound | undefined {
  return a && b ? tighter(a, b, compareStored(a.value, b.value)) : (a ?? b);
}

/** The lower of two upper bounds. */
function tighterHigh(a: Bound | undefined, b: Bound | undefined): Bound | undefined {
  return a && b ? tighter(a, b, compareStored(b.value, a.value)) : (a ?? b);
}

/** The order of SQLite: numbers, then texts (https://www.sqlite.org/datatype3.html#sort_order). */
function compareStored(a: Value, b: Value): number {
  return typeof a === typeof b ? compareValues(a, b) : typeof a === 'number' ? -1 : 1;
}

function tighter(a: Bound, b: Bound, difference: number): Bound {
  if (difference === 0) return a.inclusive ? b : a;
  return difference > 0 ? a : b;
}

function isValueFilter(filter: Filter): filter is Comparison {
  return 'value' in filter && !['attribute', 'exists'].includes(filter.operator);
}

/** The lowest values. A comparison with one finds every value, and makes an index of existing values usable. */
const LOWEST = { text: '', integer: -Number.MAX_VALUE };

function rangeOfOne(table: RecordTable, filter: Filter): Range {
  if (filter.operator === 'exists') {
    const lowest = table.fields[filter.field]?.type === 'text' ? LOWEST.text : LOWEST.integer;
    return { low: { value: lowest, inclusive: true } };
  }
  if (!isValueFilter(filter)) return {};
  const value = comparedValue(table, filter, filter.value);
  const bound = (inclusive: boolean): Bound => ({ value, inclusive });
  switch (filter.operator) {
    case 'eq':
      return { low: bound(true), high: bound(true) };
    case 'gt':
    case 'gte':
      return { low: bound(filter.operator === 'gte') };
    case 'lt':
    case 'lte':
      return { high: bound(filter.operator === 'lte') };
    case 'prefix':
      return rangeOfPrefix(String(value));
    default:
      return {};
  }
}

export function rangeOfPrefix(prefix: string): Range {
  const { from, before } = prefixRange(prefix);
  return {
    low: { value: from, inclusive: true },
    high: before === undefined ? undefined : { value: before, inclusive: false },
  };
}
