import type { QueryTime } from '../../../../application/maintenance/query-budget.js';
import type { FacetValue, Filter, RecordTable } from '../../../../application/ports/list-query.js';
import { attributeValues, isFolded, matchesFilter } from '../../../../application/records/query-semantics.js';
import { AdaptiveBatchSize } from '../connection/adaptive-batch-size.js';
import { type Bits, newBits, newPlaces, type Places, placesOf } from '../full-text/id-set.js';
import { rangeOf } from '../sql/filter.js';
import { CodeColumn, type Column, NumberColumn, type Remembered } from './column.js';
import { filteredField } from './column-fields.js';
import { type Columns, columnName } from './columns.js';
import type { Matching } from './matching.js';

/** The blocks in which a filter is compared with the codes of all records, in a turn. */
const COMPARED_BLOCKS = { first: 16, min: 1, max: 256 };
/** The places that are looked at in a turn; a block counts as a few. The first ones in the turn of the request. */
const PLACES = { first: 32_768, min: 8_192, max: 1_048_576 };
const PLACES_OF_BLOCK = 128;

/** The values of a column that are compared, or counted, in a turn. */
export const VALUES = 1_024;

const ALL = newBits().fill(-1);

/** The bits of a block; undefined if no record of it is chosen. */
export type BitsOf = (block: number) => Bits | undefined;

/** Records that match some filters. */
export interface Selection {
  /** All of them choose a record. */
  readonly bits: readonly BitsOf[];
  readonly ranges: readonly {
    readonly column: NumberColumn;
    readonly low: number;
    readonly high: number;
  }[];
  readonly served: ReadonlyMap<Column, readonly Filter[]>;
  /** The filters without a column. */
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
  const bits: BitsOf[] = [];
  const ranges = [];
  for (const [column, own] of served)
    if (column instanceof CodeColumn)
      for (const filter of own) bits.push(await bitsByCodes(table, column, filter, time));
    else if (column instanceof NumberColumn) {
      const { low, high } = boundsOf(table, own);
      // To compare all numbers pays when a range comes again.
      const isKnown = column.selections.has(own);
      const selection = column.selections.of(own);
      if (isKnown)
        bits.push(
          await bitsBy(column, selection, async () => (block) => column.select(block, low, high), time),
        );
      else ranges.push({ column, low, high });
    }
  return { bits, ranges, served, others };
}

/**
 * Looks through blocks of ids, some in each turn.
 * @param use gets the places of a block that are selected, which are valid until it returns; true ends it
 * @throws AppError `query_too_expensive`
 */
export async function lookThrough(
  blocks: Iterable<number>,
  { bits, ranges }: Pick<Selection, 'bits' | 'ranges'>,
  time: QueryTime,
  use: (block: number, places: Places) => boolean,
): Promise<void> {
  const size = new AdaptiveBatchSize(time, 1, PLACES, PLACES.first);
  const [common, memory] = [newBits(), newPlaces()];
  let left = PLACES.first;
  for (const block of blocks) {
    if (left <= 0) left = await size.next();
    const chosen = inAll(block, bits, common);
    left -= PLACES_OF_BLOCK;
    if (!chosen) continue;
    let places = placesOf(chosen, memory);
    left -= places.length;
    for (const { column, low, high } of ranges) places = column.narrow(block, places, low, high);
    if (places.length > 0 && use(block, places)) return;
  }
}

/** @param memory of the result, if it is none of the bits */
function inAll(block: number, all: readonly BitsOf[], memory: Bits): Bits | undefined {
  let common: Bits = ALL;
  for (const bitsOf of all) {
    const bits = bitsOf(block);
    if (!bits) return undefined;
    if (common === ALL) common = bits;
    else {
      for (let at = 0; at < memory.length; at++) memory[at] = (common[at] as number) & (bits[at] as number);
      common = memory;
    }
  }
  return common;
}

export function bitsAmong({ ids, isComplement }: Matching): BitsOf {
  if (!isComplement) return (block) => ids.bitsIn(block);
  return (block) => ids.bitsIn(block)?.map((word) => ~word) ?? ALL;
}

async function bitsByCodes(
  table: RecordTable,
  column: CodeColumn,
  filter: Filter,
  time: QueryTime,
): Promise<BitsOf> {
  const selecting = async () => {
    const allowed = await allowedCodes(table, column, filter, time);
    return (block: number) => column.select(block, allowed);
  };
  const bitsOf = await bitsBy(column, column.selections.of([filter]), selecting, time);
  const isAbsence = isAllowed(table, filter, undefined);
  return isAbsence ? (block) => (column.blocks.has(block) ? bitsOf(block) : ALL) : bitsOf;
}

/**
 * The bits of all blocks of a column. What is remembered is selected again only where records changed.
 * @param selecting is called only if there is something to select
 */
async function bitsBy(
  column: CodeColumn | NumberColumn,
  remembered: Remembered,
  selecting: () => Promise<(block: number) => Bits>,
  time: QueryTime,
): Promise<BitsOf> {
  const found = new Map<number, Bits | undefined>();
  const size = new AdaptiveBatchSize(time, 1, COMPARED_BLOCKS);
  let select: ((block: number) => Bits) | undefined;
  let left = 0;
  for (const [block, { mark }] of column.blocks) {
    let known = remembered.get(block);
    if (known?.mark !== mark) {
      select ??= await selecting();
      if (left-- === 0) left = await size.next();
      const bits = select(block);
      known = { mark, bits: bits.some((word) => word !== 0) ? bits : undefined };
      remembered.set(block, known);
    }
    found.set(block, known.bits);
  }
  return (block) => found.get(block);
}

/** The numbers of a column that match all filters; they are integers. */
function boundsOf(table: RecordTable, filters: readonly Filter[]): Record<'low' | 'high', number> {
  const { low, high } = rangeOf(table, filters);
  return {
    low: low ? (low.inclusive ? Number(low.value) : Math.floor(Number(low.value)) + 1) : -Infinity,
    high: high ? (high.inclusive ? Number(high.value) : Math.ceil(Number(high.value)) - 1) : Infinity,
  };
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
    allowed[code] = Number(isAllowed(table, filter, values[code - 1]));
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

/** Whether a record that has this value alone in the field of a filter matches it. @param value undefined: none */
function isAllowed(table: RecordTable, filter: Filter, value: FacetValue | undefined): boolean {
  const own = table.fields[filter.field]?.isList ? [value] : value;
  const path = filter.operator === 'attribute' ? ['attributes', filter.key] : filter.field.split('.');
  const fields =
    value === undefined ? {} : path.reduceRight<unknown>((inner, step) => ({ [step]: inner }), own);
  const record = { id: 0, version: 1, createdAt: 0, updatedAt: 0, fields: fields as object };
  return matchesFilter(table, record, filter);
}
