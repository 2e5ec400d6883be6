import type { ListPlace, Order, Value } from '../../../application/list-query.js';
import type { Id } from '../../../domain/record.js';
import { type Bound, tighter } from './range.js';
import type { Reader } from './reader.js';
import { ID } from './schema.js';
import { allOf, type Sql, sql } from './sql.js';

/** A way through the rows of a table, along one index. */
export interface IndexScan {
  /** The table and the index. */
  readonly source: string;
  /** Rows come in its order; rows with the same value are a block. */
  readonly column: string;
  readonly descending: boolean;
  /** Within a block. */
  readonly idDescending: boolean;
  /** Where the way begins and ends, in its direction. */
  readonly start?: Bound | undefined;
  readonly end?: Bound | undefined;
  /** Holds for every row on the way, and the index knows it. */
  readonly fixed?: Sql;
}

/**
 * A place on the way. A window must be a range of the index: so it is one of whole blocks, or lies in a block that is
 * larger than a window, from one id on.
 */
export type ScanPosition =
  | { readonly kind: 'blocks'; readonly from?: Bound | undefined }
  | { readonly kind: 'block'; readonly block: Value; readonly id?: Id };

/** A piece of the way, exactly a range of the index; without `next` the last one. */
export type ScanRange =
  | { readonly kind: 'blocks'; readonly rows: Sql; readonly next?: ScanPosition }
  | { readonly kind: 'block'; readonly block: Value; readonly rows: Sql; readonly next: ScanPosition };

export function scanStart(walk: IndexScan): ScanPosition {
  return { kind: 'blocks', from: walk.start };
}

export function afterBlock(block: Value): ScanPosition {
  return { kind: 'blocks', from: { value: block, inclusive: false } };
}

/**
 * The position right before what lies beyond a place, or before all of the block in which that is scattered.
 * @returns undefined where the way ends before the place
 */
export function scanPositionAt(
  walk: IndexScan,
  order: Order,
  { values, inclusive }: ListPlace,
): ScanPosition | undefined {
  const [value, id] = values;
  if (value === undefined) throw new Error('A place holds a value for each key of the order.');
  const [low, high] = walk.descending ? ([-1, 1] as const) : ([1, -1] as const);
  if (walk.column === ID) return { kind: 'blocks', from: tighter(walk.start, { value, inclusive }, low) };
  const here: Bound = { value, inclusive: true };
  if (tighter(walk.end, here, high) !== here) return undefined;
  if (tighter(walk.start, here, low) !== here) return scanStart(walk);
  return order.length === 2
    ? { kind: 'block', block: value, id: Number(id) }
    : { kind: 'block', block: value };
}

/** The next piece: whole blocks of up to `size` rows, or as many of a block that is larger. */
export function nextRange(reader: Reader, walk: IndexScan, at: ScanPosition, size: number): ScanRange {
  return at.kind === 'block'
    ? windowInBlock(reader, walk, at, size)
    : windowOfBlocks(reader, walk, at.from, size);
}

function windowInBlock(
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

function windowOfBlocks(reader: Reader, walk: IndexScan, from: Bound | undefined, size: number): ScanRange {
  const { source, column, descending, fixed, end: until } = walk;
  const [after, before] = descending ? ['<', '>'] : ['>', '<'];
  const bound = (sign: string | undefined, { value, inclusive }: Bound) =>
    sql(`${column} ${sign}${inclusive ? '=' : ''} ?`, value);
  const begun = [...(fixed ? [fixed] : []), ...(from ? [bound(after, from)] : [])];
  const rest = until ? [...begun, bound(before, until)] : begun;
  const end = valueAt(reader, source, column, rest, descending, size);
  if (end === undefined) return { kind: 'blocks', rows: allOf(rest) };
  if (valueAt(reader, source, column, rest, descending, 0) === end)
    return windowInBlock(reader, walk, { block: end }, size);
  return {
    kind: 'blocks',
    rows: allOf([...begun, bound(before, { value: end, inclusive: false })]),
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
