import type { QueryTime } from '../../../../application/maintenance/query-budget.js';
import type { Filter, ListQuery, RecordTable } from '../../../../application/ports/list-query.js';
import { idRange, isAscendingRead } from '../../../../application/search/id-range.js';
import type { Id } from '../../../../domain/record.js';
import { AdaptiveBatchSize } from '../connection/adaptive-batch-size.js';
import { BLOCK_IDS } from '../full-text/index.js';
import { IdSet } from '../full-text/search.js';
import { ALL_PLACES, type Column, type Places } from './column.js';
import { type Step, stepsOf } from './column-facets.js';
import { filteredField, isPositive } from './column-fields.js';
import { type Columns, columnName } from './columns.js';

/** The blocks of ids that are looked through in a turn. */
const BLOCKS = { first: 16, min: 1, max: 256 };

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
    for await (const { places } of this.blocks(false)) count += places.length;
    return count;
  }

  /** @throws AppError `query_too_expensive` */
  async all(): Promise<IdSet> {
    const ids = new IdSet();
    for await (const { block, places } of this.blocks(false))
      for (const place of places) ids.add(block * BLOCK_IDS + place);
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
    for await (const { block, places } of this.blocks(descending)) {
      for (const place of descending ? places.toReversed() : places) {
        const id = block * BLOCK_IDS + place;
        if (id >= low && id <= high) ids.push(id);
        if (ids.length > limit) return ids;
      }
    }
    return ids;
  }

  private async *blocks(descending: boolean): AsyncGenerator<{ block: number; places: Places }, void, void> {
    const { table, filters, columns, time } = this;
    const served = new Map<Column, Filter[]>();
    for (const filter of filters) {
      const field = filteredField(table, filter);
      const column = field && columns.get(columnName(field));
      if (!column) throw new Error('A filter has no column.');
      served.set(column, [...(served.get(column) ?? []), filter]);
    }
    const steps: Step[] = [];
    for (const [column, own] of served) steps.push(...(await stepsOf(table, column, own, time)));
    steps.sort((a, b) => a.rank - b.rank);
    const [positive] = [...served].find(([, own]) => own.some(isPositive)) ?? [];
    const blocks = [...(positive?.blocks.keys() ?? [])].toSorted((a, b) => (descending ? b - a : a - b));
    const size = new AdaptiveBatchSize(time, 1, BLOCKS);
    let left = 0;
    for (const block of blocks) {
      if (left === 0) left = await size.next();
      left--;
      let places = ALL_PLACES;
      for (const { select } of steps) if (places.length > 0) places = select(block, places);
      if (places.length > 0) yield { block, places };
    }
  }
}
