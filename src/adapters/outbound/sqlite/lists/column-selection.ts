import type { QueryTime } from '../../../../application/maintenance/query-budget.js';
import type {
  FacetField,
  FacetValue,
  Filter,
  RecordTable,
} from '../../../../application/ports/list-query.js';
import { attributeValues, isFolded, matchesFilter } from '../../../../application/records/query-semantics.js';
import { AdaptiveBatchSize } from '../connection/adaptive-batch-size.js';
import { type Bits, count, newBits, newPlaces, type Places, placesOf } from '../full-text/id-set.js';
import { BLOCK_IDS } from '../full-text/index.js';
import { rangeOf } from '../sql/filter.js';
import { CodeColumn, type Column, type Selection as ColumnSelection, NumberColumn } from './column.js';
import { filteredField } from './column-fields.js';
import { type Columns, columnName } from './columns.js';
import type { Matching } from './matching.js';

/**
 * The places that are looked at in a turn. Some count as several: those of a block in which a filter selects for the
 * first time, or that are put in order. A block counts as a few. The first ones have the turn of the request.
 */
const PLACES = { first: 32_768, min: 8_192, max: 1_048_576 };
const PLACES_OF_BLOCK = 128;

/** The number of blocks whose selected records are counted for an estimate of all. */
const SAMPLES = 4;

/** The values of a column that are compared, or counted, in a turn. */
export const VALUES = 1_024;

const ALL = newBits().fill(-1);
/** What a filter selects from a block without a record that matches. */
const NONE = newBits();

/** The bits of a block; undefined if no record of it is chosen. @param work counts what it takes */
export type BitsOf = (block: number, work: Work) => Bits | undefined;

interface Work {
  /** How many places could be looked at in the same time. */
  places: number;
}

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
      if (isKnown) bits.push(bitsBy(column, selection, (block) => column.select(block, low, high)));
      else ranges.push({ column, low, high });
    }
  return { bits, ranges, served, others };
}

/**
 * Looks through blocks of ids, some in each turn.
 * @param use gets the places of a block that are selected, which are valid until it returns; true ends it
 * @param cost how many times as long as to look at a place it takes to use it
 * @throws AppError `query_too_expensive`
 */
export async function lookThrough(
  blocks: Iterable<number>,
  { bits, ranges }: Pick<Selection, 'bits' | 'ranges'>,
  time: QueryTime,
  use: (block: number, places: Places) => boolean,
  cost = 1,
): Promise<void> {
  const size = new AdaptiveBatchSize(time, 1, PLACES, PLACES.first);
  const [common, memory] = [newBits(), newPlaces()];
  const work: Work = { places: 0 };
  let limit = PLACES.first;
  for (const block of blocks) {
    if (work.places >= limit) {
      limit = await size.next();
      work.places = 0;
    }
    const chosen = inAll(block, bits, common, work);
    work.places += PLACES_OF_BLOCK;
    if (!chosen) continue;
    let places = placesOf(chosen, memory);
    work.places += cost * places.length;
    for (const { column, low, high } of ranges) places = column.narrow(block, places, low, high);
    if (places.length > 0 && use(block, places)) return;
  }
}

/** @param memory of the result, if it is none of the bits */
function inAll(block: number, all: readonly BitsOf[], memory: Bits, work: Work): Bits | undefined {
  let common: Bits = ALL;
  for (const bitsOf of all) {
    const bits = bitsOf(block, work);
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

/**
 * An estimate of the share of the records that filters select.
 * @param peek returns the column of a field, if there is one
 * @returns undefined unless columns of codes remember what their filters select, and the other filters have columns
 */
export function rememberedShare(
  table: RecordTable,
  filters: readonly Filter[],
  peek: (field: FacetField) => Column | undefined,
): number | undefined {
  const remembered: BitsOf[] = [];
  let blocks: readonly number[] = [];
  for (const filter of filters) {
    const field = filteredField(table, filter);
    const column = field && peek(field);
    if (!column) return undefined;
    if (!(column instanceof CodeColumn)) continue;
    if (!column.selections.has([filter])) return undefined;
    const { bits } = column.selections.of([filter]);
    remembered.push((number) => bits.get(column.blocks.get(number) ?? column) ?? ALL);
    blocks = [...column.blocks.keys()];
  }
  if (blocks.length === 0) return undefined;
  const [memory, work] = [newBits(), { places: 0 }];
  let places = 0;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const block = blocks[Math.floor((blocks.length * sample) / SAMPLES)] as number;
    places += count(inAll(block, remembered, memory, work) ?? NONE);
  }
  return places / (SAMPLES * BLOCK_IDS);
}

/** What a filter selects from a column of codes. */
async function bitsByCodes(
  table: RecordTable,
  column: CodeColumn,
  filter: Filter,
  time: QueryTime,
): Promise<BitsOf> {
  const selection = column.selections.of([filter]);
  const allowed = await allowedCodes(table, column, filter, selection, time);
  const bitsOf = bitsBy(column, selection, (block) => column.select(block, allowed));
  return allowed[0] === 1 ? (block, work) => (column.blocks.has(block) ? bitsOf(block, work) : ALL) : bitsOf;
}

/** Selects from a block when it is first asked for. */
function bitsBy(
  column: CodeColumn | NumberColumn,
  { bits: remembered }: ColumnSelection,
  select: (block: number) => Bits,
): BitsOf {
  return (number, work) => {
    const block = column.blocks.get(number);
    if (!block) return undefined;
    let known = remembered.get(block);
    if (!known) {
      const bits = select(number);
      known = bits.some((word) => word !== 0) ? bits : NONE;
      remembered.set(block, known);
      work.places += BLOCK_IDS;
    }
    return known === NONE ? undefined : known;
  };
}

/** The numbers of a column that match all filters; they are integers. */
function boundsOf(table: RecordTable, filters: readonly Filter[]): Record<'low' | 'high', number> {
  const { low, high } = rangeOf(table, filters);
  return {
    low: low ? (low.inclusive ? Number(low.value) : Math.floor(Number(low.value)) + 1) : -Infinity,
    high: high ? (high.inclusive ? Number(high.value) : Math.ceil(Number(high.value)) - 1) : Infinity,
  };
}

/** Which codes of a column match a filter. Those that are remembered are not compared again. */
async function allowedCodes(
  table: RecordTable,
  column: CodeColumn,
  filter: Filter,
  selection: ColumnSelection,
  time: QueryTime,
): Promise<Uint8Array> {
  const { values } = column;
  const known = selection.allowed ?? new Uint8Array();
  if (known.length === values.length + 1) return known;
  const allowed = new Uint8Array(values.length + 1);
  allowed.set(known);
  const chosen = chosenValues(table, filter);
  for (const value of chosen ?? []) {
    const code = column.codeOf(value);
    if (code !== undefined) allowed[code] = 1;
  }
  for (let code = known.length; !chosen && code < allowed.length; code++) {
    if (code % VALUES === VALUES - 1) await time.checkpoint();
    allowed[code] = Number(isAllowed(table, filter, values[code - 1]));
  }
  selection.allowed = allowed;
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
