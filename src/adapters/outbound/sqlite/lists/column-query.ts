import type {
  Facet,
  FacetField,
  FacetQuery,
  FacetValue,
  Filter,
  ListQuery,
  Position,
  RecordTable,
  SortOrder,
  Value,
} from '../../../../application/ports/list-query.js';
import { idRange, isAscendingRead } from '../../../../application/records/block-scan.js';
import { FacetTop, facetValues, hasPrefix } from '../../../../application/records/facets.js';
import { partitionPoint, type QueryTime, TopN } from '../../../../application/records/lists.js';
import {
  compareInOrder,
  isFolded,
  matchesFilter,
  specOf,
  valuesOf,
} from '../../../../application/records/query-semantics.js';
import type { StoredRecord } from '../../../../application/records/record-json.js';
import type { Id, Versioned } from '../../../../domain/record.js';
import { scanOrder } from '../../sql/keyset.js';
import { type Bound, listedValues, rangeOf } from '../sql/filter.js';
import { columnName, type IndexView } from './column-index.js';
import { type Bits, bitsOf, type Column, endOf, type KeyRange, keyOf, rowsOf } from './dictionary-column.js';

/** The field of which every record has a value. */
const ID_FIELD: FacetField = { field: 'id' };

/** How many ids are looked at between two other requests: less than a millisecond. */
const STEP = 16_384;
/** The bits of so many ids are intersected in the time that it takes to look at one id. */
const IDS_OF_BITS = 64;
/** How many are looked at together. */
const PIECE = 1_024;

/** The field whose column serves a filter; undefined if none does. */
function filteredField(table: RecordTable, filter: Filter): FacetField | undefined {
  const { field, operator } = filter;
  if (operator === 'attribute') return { field, key: filter.key };
  const spec = specOf(table, field);
  if (field === 'id' || spec.type === 'presence' || isFolded(table, filter)) return undefined;
  const hasValues = spec.faceted || spec.isList || spec.type !== 'text' || operator === 'exists';
  return hasValues ? { field } : undefined;
}

/**
 * The fields whose columns serve filters and an order.
 * @returns undefined if there are none
 */
export function fieldsOfQuery(
  table: RecordTable,
  filters: readonly Filter[],
  order: SortOrder,
): FacetField[] | undefined {
  const fields = new Map<string, FacetField>();
  const add = (field: FacetField) => fields.set(columnName(field), field);
  for (const filter of filters) {
    if (filter.operator === 'search') continue;
    const field = filteredField(table, filter);
    if (!field) return undefined;
    add(field);
  }
  const existing = existingField(filters, order);
  if (order.length > 2 || (existing && specOf(table, existing.field).isList !== undefined)) return undefined;
  if (existing) add(existing);
  return [...fields.values()];
}

/** The field of which each record of a list needs a value: the first of the order; for a list by id all, if no filter decides. */
function existingField(filters: readonly Filter[], [first, second]: SortOrder): FacetField | undefined {
  if (first && second) return { field: first.field };
  return first && !filters.some(isPositive) ? ID_FIELD : undefined;
}

/** Whether every record that matches has a value, or one of the words. */
function isPositive(filter: Filter): boolean {
  if (filter.operator === 'search') return true;
  if (filter.operator === 'attribute') return !('exists' in filter) || filter.exists;
  return filter.operator === 'exists' ? filter.value : filter.operator !== 'inOrNone';
}

/** The keys that a filter allows. Several ranges are in their order, and do not overlap. */
function keysOfFilter(table: RecordTable, column: Column, filter: Filter): readonly KeyRange[] {
  const end = endOf(column);
  if (filter.operator === 'exists' || 'exists' in filter)
    return ('exists' in filter ? filter.exists : filter.value) ? [[1, end]] : [[0, 1]];
  if (filter.operator === 'ne') {
    const [key, behind] = keyOf(column, filter.value);
    return [
      [1, key],
      [behind, end],
    ];
  }
  const values = listedValues(filter);
  if (values) {
    const among = [...new Set(values)].map((value) => keyOf(column, value)).sort(([one], [other]) => one - other);
    return filter.operator === 'inOrNone' ? [[0, 1], ...among] : among;
  }
  const { low, high } = rangeOf(table, [filter]);
  const at = ({ value }: Bound, isBehind: boolean) => keyOf(column, value)[isBehind ? 1 : 0];
  return [[low ? at(low, !low.inclusive) : 1, high ? at(high, high.inclusive) : end]];
}

function intersected(some: readonly KeyRange[], others: readonly KeyRange[]): KeyRange[] {
  return some.flatMap(([low, high]) =>
    others.flatMap(([from, to]): KeyRange[] => {
      const both: KeyRange = [Math.max(low, from), Math.min(high, to)];
      return both[0] < both[1] ? [both] : [];
    }),
  );
}

/** Ids that a query looks at one after the other: some of an array, or the numbers themselves. */
interface Run {
  readonly ids?: Uint32Array;
  readonly from: number;
  /** Excluded; below `from` if they are read backwards. */
  readonly to: number;
}

function run(ids: Uint32Array | undefined, start: number, end: number, isBackwards = false): Run {
  const bounds = isBackwards ? { from: end - 1, to: start - 1 } : { from: start, to: end };
  return start < end ? { ...(ids && { ids }), ...bounds } : { from: 0, to: 0 };
}

/** Ids one after the other, in pieces that hold until the next one. Their reader may change them. */
type Pieces = Generator<Uint32Array, void, void>;

/** Ids among which are all that match. */
interface IdSource {
  readonly pieces: Pieces;
  /** The conditions that all of them meet. */
  readonly known: readonly IdTest[];
  /** Their number, as the time that it takes to look at them. */
  readonly rows: number;
}

function* idsOfRuns(runs: Iterable<Run>): Pieces {
  const piece = new Uint32Array(PIECE);
  let length = 0;
  for (const { ids, from, to } of runs) {
    const step = from < to ? 1 : -1;
    for (let at = from; at !== to; ) {
      const end = at + step * Math.min(Math.abs(to - at), PIECE - length);
      if (ids && step > 0) {
        piece.set(ids.subarray(at, end), length);
        length += end - at;
        at = end;
      } else for (; at !== end; at += step) piece[length++] = ids ? (ids[at] as number) : at;
      if (length < PIECE) continue;
      yield piece;
      length = 0;
    }
  }
  yield piece.subarray(0, length);
}

/** The ids that all sets of bits have, in their order. */
function* idsOfBits([first, second = first, ...more]: readonly Bits[]): Pieces {
  if (!first || !second) return;
  const bits = more.reduce(intersection, first);
  const end = Math.min(bits.length, second.length);
  const piece = new Uint32Array(PIECE);
  for (let word = 0; word < end; ) {
    let length = 0;
    for (; word < end && length <= PIECE - 32; word++)
      for (let left = (bits[word] as number) & (second[word] as number); left !== 0; left &= left - 1)
        piece[length++] = 32 * word + 31 - Math.clz32(left & -left);
    yield piece.subarray(0, length);
  }
}

function intersection(one: Bits, other: Bits): Bits {
  const both = new Int32Array(Math.min(one.length, other.length));
  for (let word = 0; word < both.length; word++) both[word] = (one[word] as number) & (other[word] as number);
  return both;
}

/** A condition on ids. */
interface IdTest {
  /** The number of ids that match, or of their places in posting lists; infinite if those without a value match. */
  readonly rows: number;
  /** What it allows, each id once, in no order; undefined if that takes longer than to look at all ids. */
  readonly runs: readonly Run[] | undefined;
  /** What it allows, if that is one part of an array in the order of ids. */
  readonly posting: readonly [ids: Uint32Array, start: number, end: number] | undefined;
  /** What it allows, if that is one value that many records have. */
  readonly bits: Bits | undefined;
  /** Leaves those of the first ids that match at the beginning of a buffer, and returns their number. */
  narrow(ids: Uint32Array, length: number): number;
}

/** A condition on the keys of one column. */
class KeyTest implements IdTest {
  private readonly low: number;
  private readonly high: number;
  /** Of several ranges: 1 at each key that is allowed. */
  private readonly allowed: Uint8Array | undefined;
  readonly rows: number;
  readonly bits: Bits | undefined;

  constructor(
    readonly column: Column,
    readonly ranges: readonly KeyRange[],
  ) {
    [this.low, this.high] = ranges.length === 1 ? (ranges[0] as KeyRange) : [0, 0];
    // Records without a value are in no posting list.
    this.rows = this.hasAbsent ? Number.POSITIVE_INFINITY : rowsOf(column, ranges);
    this.bits = this.posting && bitsOf(column, this.low);
    if (ranges.length < 2) return;
    this.allowed = new Uint8Array(endOf(column));
    for (const [low, high] of ranges) this.allowed.fill(1, low, high);
  }

  private get hasAbsent(): boolean {
    return this.ranges[0]?.[0] === 0;
  }

  get posting(): IdTest['posting'] {
    const { low, high } = this;
    const { ids, starts } = this.column;
    return low > 0 && high === low + 1 ? [ids, starts[low - 1] as number, starts[low] as number] : undefined;
  }

  get runs(): readonly Run[] | undefined {
    const { ids, starts, lists } = this.column;
    // A record of a list stands under each of its values.
    if (this.hasAbsent || (lists && !this.posting)) return undefined;
    return this.ranges.map(([low, high]) => run(ids, starts[low - 1] as number, starts[high - 1] as number));
  }

  narrow(ids: Uint32Array, length: number): number {
    const { bits, low, high, allowed } = this;
    const { keys, lists } = this.column;
    let kept = 0;
    // A processor could not foresee the branches.
    if (bits)
      for (let at = 0; at < length; at++) {
        const id = ids[at] as number;
        ids[kept] = id;
        kept += ((bits[id >>> 5] as number) >>> (id & 31)) & 1;
      }
    else if (!allowed && !lists)
      for (let at = 0; at < length; at++) {
        const id = ids[at] as number;
        const key = id < keys.length ? (keys[id] as number) : 0;
        ids[kept] = id;
        kept += Number(key >= low) & Number(key < high);
      }
    else return narrowedBy(ids, length, (id) => this.has(id));
    return kept;
  }

  private has(id: Id): boolean {
    const { keys, lists } = this.column;
    if (this.allows(id < keys.length ? (keys[id] as number) : 0)) return true;
    if (!lists || id >= keys.length) return false;
    const end = lists.starts[id + 1] as number;
    for (let at = lists.starts[id] as number; at < end; at++) if (this.allows(lists.keys[at] as number)) return true;
    return false;
  }

  private allows(key: number): boolean {
    return this.allowed ? this.allowed[key] === 1 : key >= this.low && key < this.high;
  }
}

/** The condition that an id is one of a search. */
class WordTest implements IdTest {
  readonly rows: number;
  readonly runs: readonly Run[];
  readonly posting: IdTest['posting'];
  readonly bits = undefined;

  /** @param ids in their order */
  constructor(readonly ids: Uint32Array) {
    this.rows = ids.length;
    this.runs = [run(ids, 0, ids.length)];
    this.posting = [ids, 0, ids.length];
  }

  narrow(ids: Uint32Array, length: number): number {
    return narrowedBy(ids, length, (id) => this.has(id));
  }

  has(id: Id): boolean {
    return this.ids[placeOf(this.ids, id)] === id;
  }
}

/** The index of the first id in a part of a posting list that is not below. */
function placeOf(ids: Uint32Array, least: Id, start = 0, end = ids.length): number {
  return partitionPoint(ids, (id) => id < least, start, end);
}

function narrowedBy(ids: Uint32Array, length: number, matches: (id: Id) => boolean): number {
  let kept = 0;
  for (let at = 0; at < length; at++) {
    const id = ids[at] as number;
    ids[kept] = id;
    if (matches(id)) kept++;
  }
  return kept;
}

/** The order in which a list by a column is read. */
interface KeyOrder {
  readonly column: Column;
  readonly descending: boolean;
  readonly idDescending: boolean;
  /** Where it begins: the key of a value, or half a key less if no record has the value, and an id. */
  readonly position?: { readonly key: number; readonly id: Id; readonly inclusive: boolean } | undefined;
}

/** @returns below 0 if the first comes first */
function compareKeys(
  { descending, idDescending }: KeyOrder,
  key: number,
  id: Id,
  otherKey: number,
  otherId: Id,
): number {
  return (descending ? otherKey - key : key - otherKey) || (idDescending ? otherId - id : id - otherId);
}

/** The ids of a column in an order, behind its position. */
function* orderedRuns(
  { column: { ids, starts }, descending, idDescending, position }: KeyOrder,
  ranges: readonly KeyRange[],
): Generator<Run, void, void> {
  const startOf = (key: number) => starts[key - 1] as number;
  for (const [low, high] of descending ? ranges.toReversed() : ranges) {
    const key = position?.key ?? (descending ? Number.POSITIVE_INFINITY : 0);
    if (position && key >= low && key < high && Number.isInteger(key)) {
      const { id, inclusive } = position;
      const place = placeOf(ids, id + (inclusive === idDescending ? 1 : 0), startOf(key), startOf(key + 1));
      yield idDescending ? run(ids, startOf(key), place, true) : run(ids, place, startOf(key + 1));
    }
    const [first, end] = descending
      ? [low, Math.min(high, Math.ceil(key))]
      : [Math.max(low, Math.floor(key) + 1), high];
    if (first >= end) continue;
    if (descending === idDescending) yield run(ids, startOf(first), startOf(end), descending);
    else
      for (let step = first; step < end; step++) {
        const at = descending ? end - 1 - (step - first) : step;
        yield run(ids, startOf(at), startOf(at + 1), idDescending);
      }
  }
}

/** Finds the records that match filters, in the columns of {@link fieldsOfQuery}. */
export class ColumnQuery {
  /** The rarest first. */
  private readonly tests: readonly IdTest[];
  private readonly byName = new Map<string, KeyTest>();
  private readonly words: WordTest | undefined;

  /**
   * @param order of a page; of a count that of ids; empty for facets without filters
   * @param found the ids of a search among the filters, in their order
   */
  constructor(
    private readonly table: RecordTable,
    private readonly filters: readonly Filter[],
    private readonly order: SortOrder,
    private readonly view: IndexView,
    private readonly time: QueryTime,
    found: ArrayLike<Id> | undefined,
  ) {
    for (const filter of filters)
      if (filter.operator !== 'search') {
        const field = filteredField(table, filter) as FacetField;
        const column = view.column(field);
        const isList = table.fields[filter.field]?.isList;
        this.narrow(isList ? JSON.stringify(filter) : columnName(field), column, keysOfFilter(table, column, filter));
      }
    const existing = existingField(filters, order);
    if (existing) {
      const column = view.column(existing);
      this.narrow(columnName(existing), column, [[1, endOf(column)]]);
    }
    this.words = found && new WordTest(Uint32Array.from(found));
    const all = this.words ? [...this.byName.values(), this.words] : [...this.byName.values()];
    this.tests = all.sort((a, b) => a.rows - b.rows);
  }

  private narrow(name: string, column: Column, ranges: readonly KeyRange[]): void {
    const known = this.byName.get(name);
    this.byName.set(name, new KeyTest(column, known ? intersected(known.ranges, ranges) : ranges));
  }

  /** @throws AppError `query_too_expensive` */
  async count(): Promise<number> {
    let count = 0;
    const [only, ...others] = this.tests;
    if (only?.runs && others.length === 0) {
      const changed = Uint32Array.from(this.view.changedIds());
      count = only.rows - only.narrow(changed, changed.length);
    } else
      await this.scan(this.rarest(), (_, length) => {
        count += length;
        return false;
      });
    return count + (await this.changed()).length;
  }

  /**
   * Counts the records, of which those that share a value count once.
   * @throws AppError `query_too_expensive`
   */
  async countDistinct(field: FacetField): Promise<number> {
    const column = this.view.column(field);
    // All records, and each value of the column.
    if (this.filters.length === 0 && !this.view.hasChanges)
      return (await this.count()) - column.ids.length + endOf(column) - 1;
    const seen = new Set<FacetValue>();
    const counted = new Uint8Array(endOf(column));
    let count = 0;
    await this.scan(this.rarest(), (ids, length) => {
      for (let at = 0; at < length; at++) {
        const key = keyIn(column, ids[at] as number);
        count += 1 - (counted[key] as number);
        if (key !== 0) counted[key] = 1;
      }
      return false;
    });
    for (const { fields } of await this.changed()) {
      const [value] = facetValues(fields as object, field);
      if (value === undefined) count++;
      else if (!seen.has(value)) {
        seen.add(value);
        const [key, end] = keyOf(column, value);
        if (key === end || counted[key] === 0) count++;
      }
    }
    return count;
  }

  /**
   * @param keyAt returns the position of a value in the order of a column
   * @returns the first ids among the records that did not change, and the others that match, each in the list's order
   * @throws AppError `query_too_expensive`
   */
  async page({ limit, from }: Pick<ListQuery, 'limit' | 'from'>, keyAt: (value: Value) => number) {
    const { order } = this;
    const changed = new TopN<StoredRecord<unknown>>(limit + 1, listOrder({ order, from }));
    for (const record of await this.changed()) if (isBeyond(record, order, from)) changed.add(record);
    const ids = order.length === 1 ? await this.byId(limit, from) : await this.byKey(limit, from, keyAt);
    return { ids, changed: changed.inOrder() };
  }

  private async byId(limit: number, from: Position | undefined): Promise<readonly Id[]> {
    const { order } = this;
    const { low, high } = idRange({ filters: [], order, from });
    const isBackwards = !isAscendingRead({ order, from });
    const ordered = this.tests.find(({ posting }) => posting);
    const [all, start, end] = ordered?.posting ?? [];
    const found = all
      ? run(all, placeOf(all, low, start, end), placeOf(all, high + 1, start, end), isBackwards)
      : run(undefined, low, Math.min(high, this.lastId) + 1, isBackwards);
    const ids: Id[] = [];
    const source = { pieces: idsOfRuns([found]), known: ordered ? [ordered] : [] };
    await this.scan(source, (some, length) => pushed(ids, some, length, limit + 1));
    return ids;
  }

  /** Follows the order until the page is full; or takes the first of all that match, if that takes less. */
  private async byKey(
    limit: number,
    from: Position | undefined,
    keyAt: (value: Value) => number,
  ): Promise<readonly Id[]> {
    const [first, second] = scanOrder(this.table, { order: this.order, from });
    const own = this.byName.get(first?.field ?? '') as KeyTest;
    const [value, id] = from?.values ?? [];
    const order: KeyOrder = {
      column: own.column,
      descending: first?.descending === true,
      idDescending: second?.descending === true,
      ...(from &&
        value !== undefined &&
        value !== null && { position: { key: keyAt(value), id: Number(id), inclusive: from.inclusive } }),
    };
    const others = this.tests.filter((test) => test !== own);
    const all = Math.max(1, own.column.ids.length);
    const share = others.reduce((part, { rows }) => part * Math.min(1, rows / all), 1);
    const rarest = this.rarest();
    if (Math.min(own.rows, (limit + 1) / share) > rarest.rows) return this.firstOf(rarest, limit + 1, order);
    const ids: Id[] = [];
    const use = (some: Uint32Array, length: number) => pushed(ids, some, length, limit + 1);
    const inOrder = { pieces: idsOfRuns(orderedRuns(order, own.ranges)), known: [own] };
    await this.scan(inOrder, use);
    return ids;
  }

  /** The first of all ids that match, in an order, behind its position. */
  private async firstOf(source: IdSource, count: number, order: KeyOrder): Promise<readonly Id[]> {
    const { column, position } = order;
    const keyOf = (id: Id) => column.keys[id] as number;
    const top = new TopN<Id>(count, (a, b) => compareKeys(order, keyOf(a), a, keyOf(b), b));
    await this.scan(source, (ids, length) => {
      for (let at = 0; at < length; at++) {
        const id = ids[at] as number;
        const distance = position ? compareKeys(order, keyOf(id), id, position.key, position.id) : 1;
        if (distance > 0 || (distance === 0 && position?.inclusive)) top.add(id);
      }
      return false;
    });
    return top.inOrder();
  }

  /** Counts the records by the values of fields. @throws AppError `query_too_expensive` */
  async facets(query: FacetQuery): Promise<Facet[]> {
    const columns = query.fields.map((field) => this.view.column(field));
    const counts = columns.map((column) => new Int32Array(endOf(column)));
    const shared = query.distinct === undefined ? undefined : new Shared(this.view.column({ field: query.distinct }));
    if (this.filters.length === 0) await this.countAll(columns, counts, shared);
    else
      await this.scan(this.rarest(), (ids, length) => {
        for (const [at, column] of columns.entries()) countKeys(column, ids, length, counts[at] as Int32Array, 1);
        shared?.add(ids, length);
        return false;
      });
    if (shared) await this.leaveOutRepeated(columns, counts, shared);
    const ofChanged = columns.map(() => new Map<FacetValue, number>());
    for (const { fields } of await this.changed()) {
      const [value] = query.distinct === undefined ? [] : facetValues(fields as object, { field: query.distinct });
      for (const [at, own] of ofChanged.entries())
        for (const one of facetValues(fields as object, query.fields[at] as FacetField))
          if (value === undefined || shared?.isFirst(at, columns[at] as Column, one, value))
            own.set(one, (own.get(one) ?? 0) + 1);
    }
    const facets: Facet[] = [];
    for (const [at, own] of ofChanged.entries()) {
      const top = new FacetTop(query);
      const add = (value: FacetValue, count: number) => {
        if (count > 0 && hasPrefix(value, query.prefix)) top.add({ value, count });
      };
      const { values = [] } = columns[at] as Column;
      for (const [place, value] of values.entries()) {
        add(value, (counts[at]?.[place + 1] ?? 0) + (own.get(value) ?? 0));
        own.delete(value);
      }
      for (const [value, count] of own) add(value, count);
      facets.push(top.facet());
      if (values.length > PIECE) await this.time.checkpoint();
    }
    return facets;
  }

  /** Takes back what ids count that share a value with one before. */
  private async leaveOutRepeated(columns: readonly Column[], counts: readonly Int32Array[], shared: Shared) {
    for (const [at, column] of columns.entries()) {
      const last = new Uint32Array(endOf(column));
      for (let place = 0; place < shared.several; ) {
        place = shared.leaveOutRepeated(column, counts[at] as Int32Array, last, place, STEP);
        await this.time.checkpoint();
      }
    }
  }

  /** All posting lists, without the records that changed. */
  private async countAll(columns: readonly Column[], counts: readonly Int32Array[], shared?: Shared): Promise<void> {
    const changed = Uint32Array.from(this.view.changedIds());
    shared?.addAllBut(changed);
    for (const [at, column] of columns.entries()) {
      const { starts } = column;
      const own = counts[at] as Int32Array;
      for (let key = 1; key < starts.length; key++) own[key] = (starts[key] as number) - (starts[key - 1] as number);
      countKeys(column, changed, changed.length, own, -1);
      await this.time.checkpoint();
    }
  }

  private get lastId(): Id {
    return Math.max(...[...this.byName.values()].map(({ column }) => column.keys.length - 1), 0);
  }

  /** The ids that all frequent values have, or those of the rarest filter and this filter, whichever are fewer; else all. */
  private rarest(): IdSource {
    const { lastId } = this;
    const rarest = this.tests.find(({ runs }) => runs);
    const frequent = this.tests.filter(({ bits }) => bits);
    const share = frequent.reduce((all, { rows }) => all * (rows / lastId), 1);
    const common = lastId * (share + 1 / IDS_OF_BITS);
    if (rarest && (frequent.length < 2 || rarest.rows < common))
      return { pieces: idsOfRuns(rarest.runs ?? []), known: [rarest], rows: rarest.rows };
    if (frequent.length > 0)
      return { pieces: idsOfBits(frequent.flatMap(({ bits }) => bits ?? [])), known: frequent, rows: common };
    return { pieces: idsOfRuns([run(undefined, 0, lastId + 1)]), known: [], rows: lastId };
  }

  /**
   * Hands on the ids that match and did not change.
   * @param use returns whether these are enough
   */
  private async scan(
    { pieces, known }: Pick<IdSource, 'pieces' | 'known'>,
    use: (ids: Uint32Array, length: number) => boolean,
  ): Promise<void> {
    const { view } = this;
    const tests = this.tests.filter((test) => !known.includes(test));
    let left = STEP;
    for (const piece of pieces) {
      let { length } = piece;
      left -= length;
      for (const test of tests) length = test.narrow(piece, length);
      if (view.hasChanges) length = narrowedBy(piece, length, (id) => !view.isChanged(id));
      if (length > 0 && use(piece, length)) return;
      if (left > 0) continue;
      await this.time.checkpoint();
      left = STEP;
    }
  }

  /** The records that changed and match. */
  private async changed(): Promise<StoredRecord<unknown>[]> {
    const { table, order, words } = this;
    const filters = this.filters.filter(({ operator }) => operator !== 'search');
    const matches = (record: StoredRecord<unknown>) =>
      (!words || words.has(record.id)) &&
      filters.every((filter) => matchesFilter(table, record, filter)) &&
      (order.length === 1 || valuesOf(record, order)[0] !== null);
    const matching: StoredRecord<unknown>[] = [];
    for (const some of this.view.changed()) {
      matching.push(...some.filter(matches));
      await this.time.checkpoint();
    }
    return matching;
  }
}

/** The ids that share a value with others, so that each value under them counts once. */
class Shared {
  /** By id: 1 if it matches and did not change. */
  private readonly marks: Uint8Array;
  /** By key: how many ids have a mark. */
  private readonly counts: Uint32Array;
  /** The keys that several such ids have, in any order, and their number. */
  private readonly repeated: Uint32Array;
  several = 0;
  /** The pairs of values that changed records have, by the place of the counted field. */
  private readonly seen = new Set<string>();

  constructor(readonly column: Column) {
    this.marks = new Uint8Array(column.keys.length);
    this.counts = new Uint32Array(endOf(column));
    this.repeated = new Uint32Array(endOf(column) + 1);
  }

  add(ids: Uint32Array, length: number): void {
    const { column, marks, counts, repeated } = this;
    let { several } = this;
    for (let at = 0; at < length; at++) {
      const id = ids[at] as number;
      const key = keyIn(column, id);
      const count = (counts[key] as number) + 1;
      marks[id] = 1;
      counts[key] = count;
      repeated[several] = key;
      several += Number(count === 2) & Number(key !== 0);
    }
    this.several = several;
  }

  /** Adds all ids but some. */
  addAllBut(ids: Uint32Array): void {
    this.marks.fill(1);
    for (const id of ids) this.marks[id] = 0;
    for (let key = 1; key < endOf(this.column); key++) this.repeated[this.several++] = key;
  }

  /**
   * Takes back from counts what ids have in common with others under the same value, once all are added.
   * @param last by key of the counted column: the key of the value under which it counted last
   * @param first the place of the first value
   * @param most about how many ids are looked at
   * @returns the place of the next value
   */
  leaveOutRepeated(
    { keys, lists }: Column,
    counts: Int32Array,
    last: Uint32Array,
    first: number,
    most: number,
  ): number {
    const { column, marks, repeated, several } = this;
    const { ids, starts } = column;
    let place = first;
    for (let left = most; place < several && left > 0; place++) {
      const group = repeated[place] as number;
      const [start, end] = [starts[group - 1] as number, starts[group] as number];
      left -= end - start;
      if (!lists)
        for (let at = start; at < end; at++) {
          const id = ids[at] as number;
          const key = id < keys.length ? (marks[id] as number) * (keys[id] as number) : 0;
          counts[key] = (counts[key] as number) - Number(last[key] === group);
          last[key] = group;
        }
      else
        for (let at = start; at < end; at++) {
          const id = ids[at] as number;
          if (id >= keys.length || marks[id] === 0) continue;
          const stop = lists.starts[id + 1] as number;
          for (let own = lists.starts[id] as number; own < stop; own++) {
            const key = lists.keys[own] as number;
            counts[key] = (counts[key] as number) - Number(last[key] === group);
            last[key] = group;
          }
        }
    }
    return place;
  }

  /**
   * Whether no id and no changed record before has both values.
   * @param at the place of the counted field, which a query may name twice
   * @param shared the value of {@link column}
   */
  isFirst(at: number, column: Column, value: FacetValue, shared: FacetValue): boolean {
    const pair = JSON.stringify([at, value, shared]);
    if (this.seen.has(pair)) return false;
    this.seen.add(pair);
    const [[group, end], [key, keyEnd]] = [keyOf(this.column, shared), keyOf(column, value)];
    if (group === end || key === keyEnd) return true;
    const hasValue = new KeyTest(column, [[key, keyEnd]]);
    const { ids, starts } = this.column;
    const matching = ids.subarray(starts[group - 1], starts[group]).filter((id) => this.marks[id] === 1);
    return hasValue.narrow(matching, matching.length) === 0;
  }
}

function keyIn({ keys }: Column, id: Id): number {
  return id < keys.length ? (keys[id] as number) : 0;
}

/** Adds a number for each value of some ids. */
function countKeys({ keys, lists }: Column, ids: Uint32Array, length: number, counts: Int32Array, number: number) {
  if (!lists)
    for (let at = 0; at < length; at++) {
      const id = ids[at] as number;
      const key = id < keys.length ? (keys[id] as number) : 0;
      counts[key] = (counts[key] as number) + number;
    }
  else
    for (let at = 0; at < length; at++) {
      const id = ids[at] as number;
      const end = id < keys.length ? (lists.starts[id + 1] as number) : 0;
      for (let place = lists.starts[id] as number; place < end; place++) {
        const key = lists.keys[place] as number;
        counts[key] = (counts[key] as number) + number;
      }
    }
}

/** Adds ids until there are enough. */
function pushed(all: Id[], ids: Uint32Array, length: number, enough: number): boolean {
  for (let at = 0; at < length && all.length < enough; at++) all.push(ids[at] as number);
  return all.length >= enough;
}

/** Compares records in the order in which a page is read. */
export function listOrder({ order, from }: Pick<ListQuery, 'order' | 'from'>) {
  const sign = from?.side === 'before' ? -1 : 1;
  return (a: Versioned<unknown>, b: Versioned<unknown>) =>
    sign * compareInOrder(order, valuesOf(a, order), valuesOf(b, order));
}

/** Whether a record is behind the position of a page. */
export function isBeyond(record: StoredRecord<unknown>, order: SortOrder, from: Position | undefined): boolean {
  if (!from || from.values.length === 0) return true;
  const difference = compareInOrder(order, valuesOf(record, order), from.values);
  return (from.side === 'before' ? difference < 0 : difference > 0) || (difference === 0 && from.inclusive);
}
