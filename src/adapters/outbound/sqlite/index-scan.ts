import type { ListQuery, Position, SortOrder, Value } from '../../../application/records/list-query.js';
import type { Id } from '../../../domain/record.js';
import type { Reader } from './connection.js';
import { type Bound, tighterHigh, tighterLow } from './filter.js';
import { allOf, anyOf, columnOf, ID, type Sql, sql } from './schema.js';

/** The scan of a table along one index. Rows that have the same value of the column are a block. */
export interface IndexScan {
  /** The table and the index. */
  readonly source: string;
  readonly column: string;
  readonly descending: boolean;
  /** The order within a block. */
  readonly idDescending: boolean;
  /** The first and the last value, in the direction of the scan. */
  readonly start?: Bound | undefined;
  readonly end?: Bound | undefined;
  /** A condition on every row of the scan that the index serves. */
  readonly fixed?: Sql;
}

/**
 * Where a scan continues. Each step must be a range of the index. So a step consists of whole blocks or, if a block is
 * larger than a step, of a part of that block that begins at an id.
 */
export type ScanPosition =
  | { readonly kind: 'blocks'; readonly from?: Bound | undefined }
  | { readonly kind: 'block'; readonly block: Value; readonly id?: Id };

/** One step of a scan: exactly a range of the index. The last step has no `next`. */
export type ScanRange =
  | { readonly kind: 'blocks'; readonly rows: Sql; readonly next?: ScanPosition }
  | { readonly kind: 'block'; readonly block: Value; readonly rows: Sql; readonly next: ScanPosition };

export function scanStart(scan: IndexScan): ScanPosition {
  return { kind: 'blocks', from: scan.start };
}

export function afterBlock(block: Value): ScanPosition {
  return { kind: 'blocks', from: { value: block, inclusive: false } };
}

/**
 * The scan position of the first row behind a position of the list; or the beginning of its block, if the order within
 * the block is not that of the ids.
 * @returns undefined if the scan ends before the position
 */
export function scanPositionAt(
  scan: IndexScan,
  order: SortOrder,
  { values, inclusive }: Position,
): ScanPosition | undefined {
  const [value, id] = values;
  if (value === undefined) throw new Error('The position has no value of the first key of the order.');
  const [tighterStart, tighterEnd] = scan.descending ? [tighterHigh, tighterLow] : [tighterLow, tighterHigh];
  if (scan.column === ID) return { kind: 'blocks', from: tighterStart(scan.start, { value, inclusive }) };
  const here: Bound = { value, inclusive: true };
  if (tighterEnd(scan.end, here) !== here) return undefined;
  if (tighterStart(scan.start, here) !== here) return scanStart(scan);
  return order.length === 2
    ? { kind: 'block', block: value, id: Number(id) }
    : { kind: 'block', block: value };
}

/** The next step: whole blocks of at most `size` rows together, or `size` rows of a larger block. */
export function nextRange(reader: Reader, scan: IndexScan, at: ScanPosition, size: number): ScanRange {
  return at.kind === 'block'
    ? rangeInBlock(reader, scan, at, size)
    : rangeOfBlocks(reader, scan, at.from, size);
}

function rangeInBlock(
  reader: Reader,
  { source, column, idDescending }: IndexScan,
  { block, id }: { readonly block: Value; readonly id?: Id },
  size: number,
): ScanRange {
  const [onwards, before] = idDescending ? ['<=', '>'] : ['>=', '<'];
  const rest = [sql(`${column} = ?`, block), ...(id === undefined ? [] : [sql(`${ID} ${onwards} ?`, id)])];
  const end = valueAt(reader, source, ID, rest, idDescending, size);
  if (end === undefined) return { kind: 'block', block, rows: allOf(rest), next: afterBlock(block) };
  return {
    kind: 'block',
    block,
    rows: allOf([...rest, sql(`${ID} ${before} ?`, end)]),
    next: { kind: 'block', block, id: Number(end) },
  };
}

function rangeOfBlocks(reader: Reader, scan: IndexScan, from: Bound | undefined, size: number): ScanRange {
  const { source, column, descending, fixed, end: until } = scan;
  const [after, before] = descending ? ['<', '>'] : ['>', '<'];
  const bound = (sign: string | undefined, { value, inclusive }: Bound) =>
    sql(`${column} ${sign}${inclusive ? '=' : ''} ?`, value);
  const onwards = [...(fixed ? [fixed] : []), ...(from ? [bound(after, from)] : [])];
  const rest = until ? [...onwards, bound(before, until)] : onwards;
  const end = valueAt(reader, source, column, rest, descending, size);
  if (end === undefined) return { kind: 'blocks', rows: allOf(rest) };
  if (valueAt(reader, source, column, rest, descending, 0) === end)
    return rangeInBlock(reader, scan, { block: end }, size);
  return {
    kind: 'blocks',
    rows: allOf([...onwards, bound(before, { value: end, inclusive: false })]),
    next: { kind: 'blocks', from: { value: end, inclusive: true } },
  };
}

/** The value of the row that lies `offset` rows further. */
function valueAt(
  reader: Reader,
  source: string,
  column: string,
  rows: readonly Sql[],
  descending: boolean,
  offset: number,
): Value | undefined {
  const { text, values } = allOf(rows);
  const row = reader.read(
    `SELECT ${column} FROM ${source} WHERE ${text} ORDER BY ${column}${descending ? ' DESC' : ''} LIMIT 1 OFFSET ?`,
    (statement) => statement.raw().get(...values, offset) as [Value] | undefined,
  );
  return row?.[0];
}

/** The order in which rows are read: the order of the list, reversed if the page lies before its position. */
export function scanOrder({ order, from }: ListQuery): SortOrder {
  if (from?.side !== 'before') return order;
  return order.map(({ field, descending }) => ({ field, descending: !descending }));
}

export function orderBy(order: SortOrder): string {
  return order.map(({ field, descending }) => `${columnOf(field)}${descending ? ' DESC' : ''}`).join(', ');
}

/** Keyset condition: `a > x OR (a = x AND b > y)`. It uses no index: the scan has chosen one. */
export function keysetCondition(
  order: SortOrder,
  { values, inclusive }: Pick<Position, 'values' | 'inclusive'>,
): Sql {
  return anyOf(
    order.map(({ field, descending }, at): Sql => {
      const isLast = at === order.length - 1;
      const sign = (descending ? '<' : '>') + (isLast && inclusive ? '=' : '');
      const same = order.slice(0, at).map((key) => `+${columnOf(key.field)} = ?`);
      return sql([...same, `+${columnOf(field)} ${sign} ?`].join(' AND '), ...values.slice(0, at + 1));
    }),
  );
}
