import type { ListPlace } from '../../../application/list-query.js';
import { compareInOrder, valuesOf } from '../../../application/record-order.js';
import { turnInLine } from '../../../application/turns.js';
import type { Plan } from './list-plan.js';
import type { Pace } from './pace.js';
import type { RowSource } from './row-source.js';
import { type Row, recordOf } from './rows.js';
import type { SqliteDatabase } from './sqlite-database.js';
import { nextWindow, type Position, positionAt, type Walk } from './walk.js';

type Start = ListPlace | undefined;

/** All of few rows, sorted anew for each batch. */
export async function* amongFew(
  source: RowSource,
  few: Extract<Plan, { kind: 'few' }>,
  from: Start,
): AsyncGenerator<readonly Row[]> {
  for (let place = from; ; ) {
    const rows = source.rows(few.source, few.rows, place);
    yield rows;
    place = source.placeBehind(rows);
    if (!place) return;
    await turnInLine();
  }
}

/** Along a walk in the list's own order, of which the batches are the ones that are sought. */
export async function* alongWalk(
  database: SqliteDatabase,
  source: RowSource,
  { walk, isServed }: Extract<Plan, { kind: 'walk' }>,
  from: Start,
  pace: Pace,
): AsyncGenerator<readonly Row[]> {
  let place = from;
  for (let at: Position | undefined = positionAt(walk, source.order, place); at; ) {
    const position: Position = at;
    const read = (size: number) => {
      const window = nextWindow(database, walk, position, size);
      const isSorted = window.block === undefined || source.order.length <= 2;
      return { window, isSorted, rows: source.rows(walk.source, window.rows, place) };
    };
    const { window, isSorted, ...found } = isServed ? read(2 * source.batch) : pace.window(read);
    const rows = isSorted ? found.rows : await bestOfBlock(database, source, walk, window.block, place, pace);
    yield rows;
    const behind = source.placeBehind(rows);
    place = behind ?? place;
    if (behind) at = positionAt(walk, source.order, behind);
    else at = isSorted ? window.next : { from: { value: window.block ?? 0, inclusive: false } };
    if (isServed) await turnInLine();
    else await pace.turn();
  }
}

/** The first rows of a block that is too large to be sorted at once. */
async function bestOfBlock(
  database: SqliteDatabase,
  source: RowSource,
  walk: Walk,
  block: string | number = 0,
  place: Start,
  pace: Pace,
): Promise<Row[]> {
  let best: Row[] = [];
  for (let at: Position | undefined = { block }; at && 'block' in at; ) {
    const position: Position = at;
    const window = pace.window((size) => {
      const window = nextWindow(database, walk, position, size);
      best = firstOf(source, [...best, ...source.rows(walk.source, window.rows, place)]);
      return window;
    });
    at = window.next;
    await pace.turn();
  }
  return best;
}

function firstOf({ order, batch }: RowSource, rows: readonly Row[]): Row[] {
  return rows
    .map((row) => ({ row, values: valuesOf(recordOf(row), order) }))
    .sort((a, b) => compareInOrder(order, a.values, b.values))
    .slice(0, batch)
    .map(({ row }) => row);
}
