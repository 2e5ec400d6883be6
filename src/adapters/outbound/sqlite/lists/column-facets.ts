import type { QueryTime } from '../../../../application/maintenance/query-budget.js';
import type { Facet, FacetField, FacetQuery, RecordTable } from '../../../../application/ports/list-query.js';
import { FacetTop, hasPrefix } from '../../../../application/records/facets.js';
import type { Reader } from '../connection/connection.js';
import type { CodeColumn } from './column.js';
import { filteredField } from './column-fields.js';
import { bitsAmong, lookThrough, selectionBy, VALUES } from './column-selection.js';
import { type Columns, columnName } from './columns.js';
import { findMatching } from './matching.js';
import type { FacetTuning } from './value-rows.js';

/** The fields of a query that may have a column: those that are counted, and those of filters. */
export function columnFields(table: RecordTable, { fields, filters }: FacetQuery): FacetField[] {
  const wanted = [...fields, ...filters.flatMap((filter) => filteredField(table, filter) ?? [])];
  return [...new Map(wanted.map((field) => [columnName(field), field])).values()];
}

/** Counts the records by the columns of the fields. Filters without a column are served by other means. */
export async function countColumns(
  reader: Reader,
  table: RecordTable,
  query: FacetQuery,
  columns: Columns,
  time: QueryTime,
  tuning: FacetTuning,
): Promise<Facet[]> {
  const { bits, ranges, others } = await selectionBy(table, query.filters, columns, time);
  const matching = others.length === 0 ? undefined : await findMatching(reader, table, others, time, tuning);
  const selection = { bits: matching ? [bitsAmong(matching), ...bits] : bits, ranges };
  const counted = query.fields.map((field) => columns.get(columnName(field)) as CodeColumn);
  const counts = counted.map(({ values }) => new Uint32Array(values.length + 1));
  const blocks = new Set(counted.flatMap((column) => [...column.blocks.keys()]));
  await lookThrough(blocks, selection, time, (block, places) => {
    for (const [at, column] of counted.entries()) column.count(block, places, counts[at] as Uint32Array);
    return false;
  });
  const facets: Facet[] = [];
  for (const [at, { values }] of counted.entries()) {
    const top = new FacetTop(query);
    for (const [code, value] of values.entries()) {
      if (code % VALUES === VALUES - 1) await time.checkpoint();
      const count = counts[at]?.[code + 1] ?? 0;
      if (count > 0 && hasPrefix(value, query.prefix)) top.add({ value, count });
    }
    facets.push(top.facet());
  }
  return facets;
}
