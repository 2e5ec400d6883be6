import type { QueryTime } from '../../../../application/maintenance/query-budget.js';
import type { Filter, ListQuery, RecordTable } from '../../../../application/ports/list-query.js';
import { TopN } from '../../../../application/records/top-n.js';
import { idRange, isAscendingRead } from '../../../../application/search/id-range.js';
import type { Id } from '../../../../domain/record.js';
import { BLOCK_IDS } from '../full-text/index.js';
import { IdSet } from '../full-text/search.js';
import { boundOf, scanOrder } from '../sql/schema.js';
import type { NumberColumn, Places } from './column.js';
import { lookThrough, selectionBy } from './column-facets.js';
import { isPositive } from './column-fields.js';
import type { Columns } from './columns.js';

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
  async first({ limit, order, from }: Pick<ListQuery, 'limit' | 'order' | 'from'>): Promise<readonly Id[]> {
    const { low, high } = idRange({ filters: [], order, from });
    const descending = !isAscendingRead({ order, from });
    const ids: Id[] = [];
    await this.look(descending, (block, places) => {
      for (const place of descending ? places.toReversed() : places) {
        const id = block * BLOCK_IDS + place;
        if (id >= low && id <= high) ids.push(id);
        if (ids.length > limit) return true;
      }
      return false;
    });
    return ids;
  }

  /**
   * Returns the first ids of a list by a number and id, behind its position: those of the page and one more.
   * @param numbers of all records that match
   * @throws AppError `query_too_expensive`
   */
  async firstBy(
    numbers: NumberColumn,
    query: Pick<ListQuery, 'limit' | 'order' | 'from'>,
  ): Promise<readonly Id[]> {
    const [byNumber = 1, byId = 1] = scanOrder(query).map(({ descending }) => (descending ? -1 : 1));
    const compare = (a: Place, b: Place) => (a.number - b.number) * byNumber || (a.id - b.id) * byId;
    const first = new TopN<Place>(query.limit + 1, compare);
    const bound = boundOf(query);
    const place = bound && { number: Number(bound.values[0]), id: Number(bound.values[1]) };
    const isBehind = (one: Place) => {
      const difference = place ? compare(one, place) : 1;
      return difference > 0 || (difference === 0 && bound?.inclusive === true);
    };
    await this.look(false, (block, places) => {
      const own = numbers.blocks.get(block);
      for (const at of places) {
        const one = { number: Number(own?.[at]), id: block * BLOCK_IDS + at };
        if (isBehind(one)) first.add(one);
      }
      return false;
    });
    return first.inOrder().map(({ id }) => id);
  }

  private async look(descending: boolean, use: (block: number, places: Places) => boolean): Promise<void> {
    const { table, filters, columns, time } = this;
    const { steps, served, others } = await selectionBy(table, filters, columns, time);
    if (others.length > 0) throw new Error('A filter has no column.');
    const [positive] = [...served].find(([, own]) => own.some(isPositive)) ?? [];
    const blocks = [...(positive?.blocks.keys() ?? [])].toSorted((a, b) => (descending ? b - a : a - b));
    await lookThrough(blocks, steps, time, use);
  }
}

/** A record in the order of a number. */
interface Place {
  readonly number: number;
  readonly id: Id;
}
