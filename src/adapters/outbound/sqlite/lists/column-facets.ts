import type { QueryTime } from '../../../../application/maintenance/query-budget.js';
import type {
  Facet,
  FacetField,
  FacetQuery,
  FacetValue,
  Filter,
  RecordTable,
} from '../../../../application/ports/list-query.js';
import { FacetTop, hasPrefix } from '../../../../application/records/facets.js';
import { attributeValues, isFolded, matchesFilter } from '../../../../application/records/query-semantics.js';
import { AdaptiveBatchSize } from '../connection/adaptive-batch-size.js';
import type { Reader } from '../connection/connection.js';
import { BLOCK_IDS } from '../full-text/index.js';
import { rangeOf } from '../sql/filter.js';
import { hasAllValues } from '../sql/old-records.js';
import { ALL_PLACES, CodeColumn, type Column, newPlaces, type Places } from './column.js';
import { filteredField } from './column-fields.js';
import { type Columns, columnName } from './columns.js';
import { findMatching, type Matching } from './matching.js';
import type { FacetTuning } from './value-rows.js';

/** The blocks of ids that are counted in a turn. */
const BLOCKS = { first: 16, min: 1, max: 256 };

/** The order of steps: those that are quick, or leave few records, come first. The first one gets all places of a block. */
const RANKS = { ids: 0, codes: 1, lists: 2, numbers: 3, absence: 4, complement: 5 };

/** The values of a column that are compared, or counted, in a turn. */
const VALUES = 1_024;

/** Selects the records of a block that match some filters, from those that the steps before left. */
export interface Step {
  readonly rank: number;
  /** @param memory as of `CodeColumn.select` */
  select(block: number, places: Places, memory: Places): Places;
}

/** The filters that columns serve, as steps, and those without a column. */
export interface Selection {
  readonly steps: readonly Step[];
  readonly served: ReadonlyMap<Column, readonly Filter[]>;
  readonly others: readonly Filter[];
}

export async function selectionBy(
  table: RecordTable,
  filters: readonly Filter[],
  columns: Columns,
  time: QueryTime,
): Promise<Selection> {
  const served = new Map<Column, Filter[]>();
  const others: Filter[] = [];
  for (const filter of filters) {
    const field = filteredField(table, filter);
    const column = field && columns.get(columnName(field));
    if (column) served.set(column, [...(served.get(column) ?? []), filter]);
    else others.push(filter);
  }
  const steps: Step[] = [];
  for (const [column, own] of served) steps.push(...(await stepsOf(table, column, own, time)));
  return { steps, served, others };
}

/**
 * Looks through blocks of ids, some in each turn.
 * @param use gets the places of a block that all steps leave, which are valid until it returns; true ends it
 * @throws AppError `query_too_expensive`
 */
export async function lookThrough(
  blocks: Iterable<number>,
  steps: readonly Step[],
  time: QueryTime,
  use: (block: number, places: Places) => boolean,
): Promise<void> {
  const ranked = steps.toSorted((a, b) => a.rank - b.rank);
  const size = new AdaptiveBatchSize(time, 1, BLOCKS);
  const memory = newPlaces();
  let left = 0;
  for (const block of blocks) {
    if (left === 0) left = await size.next();
    left--;
    let places = ALL_PLACES;
    for (const { select } of ranked) if (places.length > 0) places = select(block, places, memory);
    if (places.length > 0 && use(block, places)) return;
  }
}

/** The fields of a query that may have a column: those that are counted, and those of filters. */
export function columnFields(
  reader: Reader,
  table: RecordTable,
  { fields, filters }: FacetQuery,
): FacetField[] {
  const wanted = [...fields, ...filters.flatMap((filter) => filteredField(table, filter) ?? [])];
  const all = hasAllValues(reader, table) ? wanted : wanted.filter(({ key }) => key === undefined);
  return [...new Map(all.map((field) => [columnName(field), field])).values()];
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
  const { steps, others } = await selectionBy(table, query.filters, columns, time);
  const matching = others.length === 0 ? undefined : await findMatching(reader, table, others, time, tuning);
  const counted = query.fields.map((field) => columns.get(columnName(field)) as CodeColumn);
  const counts = counted.map(({ values }) => new Uint32Array(values.length + 1));
  const blocks = new Set(counted.flatMap((column) => [...column.blocks.keys()]));
  await lookThrough(blocks, matching ? [stepOf(matching), ...steps] : steps, time, (block, places) => {
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

function stepOf({ ids, isComplement }: Matching): Step {
  return isComplement
    ? {
        rank: RANKS.complement,
        select: (block, places) => places.filter((place) => !ids.has(block * BLOCK_IDS + place)),
      }
    : { rank: RANKS.ids, select: (block) => ids.placesIn(block) };
}

/** @param filters of the field of the column */
async function stepsOf(
  table: RecordTable,
  column: Column,
  filters: readonly Filter[],
  time: QueryTime,
): Promise<Step[]> {
  if (column instanceof CodeColumn) {
    const steps: Step[] = [];
    for (const filter of filters) {
      const allowed = await allowedCodes(table, column, filter, time);
      const isList = table.fields[filter.field]?.isList;
      const rank = allowed[0] === 1 ? RANKS.absence : isList ? RANKS.lists : RANKS.codes;
      steps.push({ rank, select: (block, places, memory) => column.select(block, places, memory, allowed) });
    }
    return steps;
  }
  const { low, high } = rangeOf(table, filters);
  // The numbers of the column are integers.
  const least = low ? (low.inclusive ? Number(low.value) : Math.floor(Number(low.value)) + 1) : -Infinity;
  const most = high ? (high.inclusive ? Number(high.value) : Math.ceil(Number(high.value)) - 1) : Infinity;
  const select: Step['select'] = (block, places, memory) => column.select(block, places, memory, least, most);
  return [{ rank: RANKS.numbers, select }];
}

/** Which codes of a column match a filter: 1 at their numbers, at 0 if records without value match. */
async function allowedCodes(
  table: RecordTable,
  column: CodeColumn,
  filter: Filter,
  time: QueryTime,
): Promise<Uint8Array> {
  const { values } = column;
  const allowed = new Uint8Array(values.length + 1);
  const chosen = chosenValues(table, filter);
  for (const value of chosen ?? []) {
    const code = column.codeOf(value);
    if (code !== undefined) allowed[code] = 1;
  }
  for (let code = 0; !chosen && code < allowed.length; code++) {
    if (code % VALUES === VALUES - 1) await time.checkpoint();
    const record = recordWith(table, filter, values[code - 1]);
    allowed[code] = Number(matchesFilter(table, record, filter));
  }
  return allowed;
}

/** @returns undefined if a filter names no values */
function chosenValues(table: RecordTable, filter: Filter): readonly FacetValue[] | undefined {
  if (filter.operator === 'attribute')
    return 'value' in filter || 'values' in filter ? attributeValues(filter) : undefined;
  if (isFolded(table, filter)) return undefined;
  if (filter.operator === 'in') return filter.values;
  return filter.operator === 'eq' ? [filter.value] : undefined;
}

/** A record with this value alone in the field of a filter. */
function recordWith({ fields }: RecordTable, filter: Filter, value: unknown) {
  const own = fields[filter.field]?.isList ? [value] : value;
  const path = filter.operator === 'attribute' ? ['attributes', filter.key] : filter.field.split('.');
  const record =
    value === undefined ? {} : path.reduceRight<unknown>((inner, step) => ({ [step]: inner }), own);
  return { id: 0, version: 1, createdAt: 0, updatedAt: 0, fields: record as object };
}
