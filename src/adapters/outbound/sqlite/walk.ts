import type { ListPlace, Order, Value } from '../../../application/list-query.js';
import type { Id } from '../../../domain/record.js';
import { ID } from './columns.js';
import { all, type Sql, sql } from './sql.js';
import type { SqliteDatabase } from './sqlite-database.js';

/** A way through the rows of a table, along one index. */
export interface Walk {
  /** The table and the index. */
  readonly source: string;
  /** Rows come in its order; rows with the same value are a block. */
  readonly column: string;
  readonly descending: boolean;
  /** Within a block. */
  readonly idDescending: boolean;
  /** Where the way begins and ends, in its direction. */
  readonly start?: Bound;
  readonly end?: Bound;
  /** Holds for every row on the way, and the index knows it. */
  readonly fixed?: Sql;
}

export interface Bound {
  readonly value: Value;
  readonly inclusive: boolean;
}

/** Before a row of the walk: in front of whole blocks, or inside the block of one value. */
export type Position = { readonly from: Bound | undefined } | { readonly block: Value; readonly id?: Id };

/** A piece of the way, exactly a range of the index. */
export interface Window {
  readonly rows: Sql;
  /** The value of the block that it is a part of; absent: it holds whole blocks. */
  readonly block?: Value;
  /** Absent: the way ends with this window. */
  readonly next?: Position;
}

/** The position right before what lies beyond a place, or before all of the block in which that is scattered. */
export function positionAt(walk: Walk, order: Order, place: ListPlace | undefined): Position {
  const [value, id] = place?.values ?? [];
  if (!place || value === undefined) return { from: walk.start };
  if (walk.column === ID) return { from: { value, inclusive: place.inclusive } };
  return order.length === 2 ? { block: value, id: Number(id) } : { block: value };
}

/** The next piece: whole blocks of about `size` rows, or a part of one block that is larger than that. */
export function nextWindow(database: SqliteDatabase, walk: Walk, at: Position, size: number): Window {
  return 'block' in at
    ? windowInBlock(database, walk, at, size)
    : windowOfBlocks(database, walk, at.from, size);
}

function windowInBlock(
  database: SqliteDatabase,
  walk: Walk,
  { block, id }: { readonly block: Value; readonly id?: Id },
  size: number,
): Window {
  const { source, column, idDescending } = walk;
  const inBlock = sql(`${column} = ?`, block);
  const rows = id === undefined ? [inBlock] : [inBlock, sql(`${ID} ${idDescending ? '<=' : '>='} ?`, id)];
  const end = valueAt(database, source, ID, rows, idDescending, size);
  if (end === undefined)
    return { rows: all(rows), block, next: { from: { value: block, inclusive: false } } };
  return {
    rows: all([...rows, sql(`${ID} ${idDescending ? '>' : '<'} ?`, end)]),
    block,
    next: { block, id: Number(end) },
  };
}

function windowOfBlocks(database: SqliteDatabase, walk: Walk, from: Bound | undefined, size: number): Window {
  const { source, column, descending, fixed, end: until } = walk;
  const [after, before] = descending ? ['<', '>'] : ['>', '<'];
  const bound = (sign: string, { value, inclusive }: Bound) =>
    sql(`${column} ${sign}${inclusive ? '=' : ''} ?`, value);
  const begun = [...(fixed ? [fixed] : []), ...(from ? [bound(`${after}`, from)] : [])];
  const rest = until ? [...begun, bound(`${before}`, until)] : begun;
  const end = valueAt(database, source, column, rest, descending, size);
  if (end === undefined) return { rows: all(rest) };
  if (valueAt(database, source, column, rest, descending, 0) === end)
    return windowInBlock(database, walk, { block: end }, size);
  return {
    rows: all([...begun, bound(`${before}`, { value: end, inclusive: false })]),
    next: { from: { value: end, inclusive: true } },
  };
}

/** The value of the row that lies `offset` rows further. */
function valueAt(
  database: SqliteDatabase,
  source: string,
  column: string,
  rows: readonly Sql[],
  descending: boolean,
  offset: number,
): Value | undefined {
  const { text, values } = all(rows);
  const row = database.read(
    `SELECT ${column} FROM ${source} WHERE ${text} ORDER BY ${column}${descending ? ' DESC' : ''} LIMIT 1 OFFSET ?`,
    (statement) => statement.raw().get(...values, offset) as [Value] | undefined,
  );
  return row?.[0];
}
