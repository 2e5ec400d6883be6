import type { QueryTime } from '../../../../application/maintenance/query-budget.js';
import type { Filter, ListQuery, RecordTable } from '../../../../application/ports/list-query.js';
import { TopN } from '../../../../application/records/top-n.js';
import { idRange, isAscendingRead } from '../../../../application/search/id-range.js';
import { type Id, MAX_ID } from '../../../../domain/record.js';
import { blockOf, IdSet, type Places } from '../full-text/id-set.js';
import { BLOCK_IDS } from '../full-text/index.js';
import { boundOf, scanOrder } from '../sql/schema.js';
import type { Ordering } from './column.js';
import { isPositive } from './column-fields.js';
import { lookThrough, selectionBy } from './column-selection.js';
import type { Columns } from './columns.js';

/** How many times as long as to look at a place it takes to put it in order. */
const ORDER_COST = 8;

type Page = Pick<ListQuery, 'limit' | 'order' | 'from'>;

/** The records that match filters, found in the columns of {@link servingFields}. */
export class ColumnMatches {
  constructor(
    private readonly table: RecordTable,
    private readonly filters: readonly Filter[],
    private readonly columns: Columns,
    private readonly time: QueryTime,
  ) {}

  /** @throws AppError `query_too_expensive` */
  async count(): Promise<number> {
    let count = 0;
    await this.look(false, (_, places) => {
      count += places.length;
      return false;
    });
    return count;
  }

  /** @throws AppError `query_too_expensive` */
  async all(): Promise<IdSet> {
    const ids = new IdSet();
    await this.look(false, (block, places) => {
      for (const place of places) ids.add(block * BLOCK_IDS + place);
      return false;
    });
    return ids;
  }

  /**
   * Returns the first ids of a list by id, behind its position: those of the page and one more.
   * @throws AppError `query_too_expensive`
   */
  async first({ limit, order, from }: Page): Promise<readonly Id[]> {
    const { low, high } = idRange({ filters: [], order, from });
    const descending = !isAscendingRead({ order, from });
    const ids: Id[] = [];
    const use = (block: number, places: Places) => {
      for (const place of descending ? places.toReversed() : places) {
        const id = block * BLOCK_IDS + place;
        if (id >= low && id <= high) ids.push(id);
        if (ids.length > limit) return true;
      }
      return false;
    };
    await this.look(descending, use, { low, high });
    return ids;
  }

  /**
   * Returns the first ids of a list by the values of a column and id, behind its position: those of the page and one
   * more.
   * @param column has a value of every record that matches
   * @throws AppError `query_too_expensive`
   */
  async firstBy<Block>(column: Ordering<Block>, query: Page): Promise<readonly Id[]> {
    const [byValue = 1, byId = 1] = scanOrder(query).map(({ descending }) => (descending ? -1 : 1));
    const compare = (a: Candidate<Block>, b: Candidate<Block>) =>
      column.compare(a.block, a.place, b.block, b.place) * byValue || (a.id - b.id) * byId;
    const first = new TopN<Candidate<Block>>(query.limit + 1, compare);
    const bound = boundOf(query);
    const position = bound && {
      block: column.blockWith(bound.values[0]),
      place: 0,
      id: Number(bound.values[1]),
    };
    const isBehind = (one: Candidate<Block>) => {
      const difference = position ? compare(one, position) : 1;
      return difference > 0 || (difference === 0 && bound?.inclusive === true);
    };
    const use = (number: number, places: Places) => {
      const block = column.block(number);
      for (let at = 0; at < places.length; at++) {
        const place = places[at] as number;
        const { last } = first;
        // Most records come after it.
        if (last && column.compare(block, place, last.block, last.place) * byValue > 0) continue;
        const one = { block, place, id: number * BLOCK_IDS + place };
        if (isBehind(one)) first.add(one);
      }
      return false;
    };
    // Values often rise with ids, so those that come first are found first.
    await this.look(byValue < 0, use, { cost: ORDER_COST });
    return first.inOrder().map(({ id }) => id);
  }

  private async look(
    descending: boolean,
    use: (block: number, places: Places) => boolean,
    { low = 0, high = MAX_ID, cost = 1 } = {},
  ): Promise<void> {
    const { table, filters, columns, time } = this;
    const selection = await selectionBy(table, filters, columns, time);
    if (selection.others.length > 0) throw new Error('A filter has no column.');
    const [positive] = [...selection.served].find(([, own]) => own.some(isPositive)) ?? [];
    const blocks = [...(positive?.blocks.keys() ?? [])]
      .filter((block) => block >= blockOf(low) && block <= blockOf(high))
      .sort((a, b) => (descending ? b - a : a - b));
    await lookThrough(blocks, selection, time, use, cost);
  }
}

/** A record in the order of a column. */
interface Candidate<Block> {
  readonly block: Block;
  readonly place: number;
  readonly id: Id;
}
