import type { QueryBudget, QueryTime } from '../../../../application/maintenance/query-budget.js';
import type {
  Facet,
  FacetCount,
  FacetField,
  FacetQuery,
  FacetValue,
  RecordTable,
} from '../../../../application/ports/list-query.js';
import { FacetCounter, FacetTop } from '../../../../application/records/facets.js';
import { SERVICE_TURN } from '../../../../shared/turn.js';
import { AdaptiveBatchSize } from '../connection/adaptive-batch-size.js';
import type { Reader } from '../connection/connection.js';
import type { SqliteDatabase } from '../connection/database.js';
import type { IdSet } from '../full-text/id-set.js';
import { idsIn, numberOf, type StoredValue, sql } from '../sql/schema.js';
import { CodeColumn } from './column.js';
import { columnFields, countColumns } from './column-facets.js';
import { ColumnCache, columnName, pathIn } from './columns.js';
import { findMatching, type Matching, pieces } from './matching.js';
import {
  FACET_TUNING,
  type FacetTuning,
  facetValue,
  rowsOfFacet,
  slicesOfValues,
  type ValueRows,
} from './value-rows.js';

/**
 * Counts records by their values. All fields of a query are counted in one snapshot, each in one of these ways:
 *
 *     columns    what the records have is in memory (`columns.ts`), if a feed of changes is written
 *     records    the values of the matching records are read, if these are few
 *     index      the index of the field is read in the order of its values
 */
export class FacetReader {
  readonly cache: ColumnCache;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
    private readonly tuning = FACET_TUNING,
  ) {
    this.cache = new ColumnCache(database, table, budget, tuning);
  }

  /** @throws AppError `query_too_expensive` */
  async facets(query: FacetQuery): Promise<readonly Facet[]> {
    const { database, table, budget, cache, tuning } = this;
    const { turn = SERVICE_TURN, filters, fields, prefix } = query;
    // A prefix alone is a short range of the index.
    const columned = prefix !== undefined && filters.length === 0 ? [] : columnFields(table, query);
    await cache.prepare(columned);
    return database.inSnapshot(async (reader) => {
      const columns = await cache.at(reader, columned, turn);
      const time = budget.start(turn);
      const hasColumn = (field: FacetField) => columns.get(columnName(field)) instanceof CodeColumn;
      const parts = [
        {
          some: fields.filter(hasColumn),
          count: (part: FacetQuery) => countColumns(reader, table, part, columns, time, tuning),
        },
        {
          some: fields.filter((field) => !hasColumn(field)),
          count: (part: FacetQuery) => this.byRows(reader, part, time),
        },
      ];
      const found = new Map<FacetField, Facet>();
      for (const { some, count } of parts) {
        const facets = some.length === 0 ? [] : await count({ ...query, fields: some });
        for (const [at, field] of some.entries()) found.set(field, facets[at] as Facet);
      }
      return fields.map((field) => found.get(field) as Facet);
    }, turn);
  }

  private async byRows(reader: Reader, query: FacetQuery, time: QueryTime): Promise<readonly Facet[]> {
    const { table, tuning } = this;
    const { filters, fields, prefix } = query;
    const matching =
      filters.length > 0 ? await findMatching(reader, table, filters, time, tuning) : undefined;
    const all = numberOf(reader, sql(`SELECT coalesce(max(id), 0) FROM ${table.name}`));
    if (matching && wayOf(matching, fields.length, all, tuning) === 'records') {
      const facets = await countRecords(reader, table, query, matching.ids, time, tuning);
      if (facets) return facets;
    }
    const facets: Facet[] = [];
    for (const field of fields)
      facets.push(await countIndex(reader, rowsOfFacet(table, field, prefix), query, matching, time, tuning));
    return facets;
  }
}

/** How values are found without columns. */
export type RowsWay = 'records' | 'index';

/** @param all the number of records, approximately */
export function wayOf(
  { ids, isComplement }: Pick<Matching, 'isComplement'> & { readonly ids: Pick<IdSet, 'size'> },
  fields: number,
  all: number,
  { record, field }: Pick<FacetTuning, 'record' | 'field'> = FACET_TUNING,
): RowsWay {
  const reading = ids.size * (record + field * fields);
  return !isComplement && reading <= all * fields ? 'records' : 'index';
}

/**
 * Counts the values of these records.
 * @returns undefined if they have too many different values
 */
async function countRecords(
  reader: Reader,
  table: RecordTable,
  query: FacetQuery,
  ids: IdSet,
  time: QueryTime,
  { maxValues }: FacetTuning,
): Promise<Facet[] | undefined> {
  const counter = new FacetCounter(query);
  const paths = query.fields.map(pathIn);
  // As JSON, numbers are exact.
  const values = paths.map(() => 'fields -> ?').join(', ');
  const text = `SELECT group_concat(json_array(${values})) FROM json_each(?) AS wanted
    CROSS JOIN ${table.name} AS record ON record.id = wanted.value`;
  for await (const some of pieces(ids, new AdaptiveBatchSize(time))) {
    const [found] = reader.read(
      text,
      (statement) => statement.get([...paths, JSON.stringify(some)]) as [string | null],
    );
    for (const record of JSON.parse(`[${found ?? ''}]`) as (FacetValue | FacetValue[] | null)[][])
      for (const [at, own] of record.entries())
        if (own !== null) counter.addValues(at, Array.isArray(own) ? own : [own]);
    if (counter.size > maxValues) return undefined;
  }
  return counter.facets();
}

/** Counts the rows of each value whose ids match. Of the values it holds only those of the facet. */
async function countIndex(
  reader: Reader,
  all: readonly ValueRows[],
  query: FacetQuery,
  matching: Matching | undefined,
  time: QueryTime,
  tuning: FacetTuning,
): Promise<Facet> {
  const top = new FacetTop(query);
  const size = new AdaptiveBatchSize(time, 1, tuning.rows);
  let last: FacetCount | undefined;
  for (const rows of all)
    for await (const parts of slicesOfValues(reader, rows, size))
      for (const { where, isWhole } of parts) {
        const text = `SELECT ${rows.column}, ${matching ? 'group_concat(id)' : 'count(*)'} FROM ${rows.source}
          WHERE ${where.text} GROUP BY 1 HAVING count(*) > ?`;
        const least = isWhole ? top.leastCount : 0;
        const found = reader.read(
          text,
          (statement) => statement.all([...where.values, least]) as [StoredValue, string & number][],
        );
        for (const [stored, rowsOrIds] of found) {
          const value = facetValue(stored);
          const count = matching ? matchingIn(rowsOrIds, matching) : rowsOrIds;
          if (last && last.value === value) last = { value, count: last.count + count };
          else {
            if (last && last.count > 0) top.add(last);
            last = { value, count };
          }
        }
      }
  if (last && last.count > 0) top.add(last);
  return top.facet();
}

function matchingIn(text: string, { ids, isComplement }: Matching): number {
  let count = 0;
  for (const id of idsIn(text)) if (ids.has(id) !== isComplement) count++;
  return count;
}
