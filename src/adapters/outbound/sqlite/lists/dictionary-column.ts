import type { FacetValue } from '../../../../application/ports/list-query.js';
import { partitionPoint } from '../../../../application/records/lists.js';
import type { Id } from '../../../../domain/record.js';
import { compareStored } from '../sql/schema.js';

/** Keys from `low` to before `high`. Key 0 stands for no value. */
export type KeyRange = readonly [low: number, high: number];

/**
 * The values of one field in all records: a dictionary-encoded column with a posting list for each value. The key of a
 * value is its place in the order of all values, from 1 on. A column never changes.
 */
export interface Column {
  /** The posting lists one after the other, in the order of their keys: the ids that have the value, in their order. */
  readonly ids: Uint32Array;
  /** Where the posting list of each key begins, and the end of the last. */
  readonly starts: Uint32Array;
  /** The lowest key of each record, by id. It may end before the last id. */
  readonly keys: Uint16Array | Uint32Array;
  /** If a record has several values: where the keys of each id begin, and these keys. */
  readonly lists: { readonly starts: Uint32Array; readonly keys: Uint16Array } | undefined;
  /** The value of key 1, and so on. Absent if there may be many texts: then the column gives only an order. */
  readonly values: readonly FacetValue[] | undefined;
  /** By key: the posting lists of values that many records have, as a bit for each id. Made when needed. */
  readonly bits: Map<number, Bits>;
  readonly bytes: number;
}

/** A bit for each id, 32 in a word. */
export type Bits = Int32Array;

/** A value is frequent if one record of so many has it. Then bits take at most twice the memory of its posting list. */
const FREQUENT = 64;

/** The ids with a value as bits; undefined if few records have it. */
export function bitsOf({ ids, starts, keys, bits }: Column, key: number): Bits | undefined {
  const [start, end] = [starts[key - 1] as number, starts[key] as number];
  if (end - start <= keys.length / FREQUENT) return undefined;
  const known = bits.get(key);
  if (known) return known;
  const made = new Int32Array((keys.length >>> 5) + 1);
  for (let at = start; at < end; at++) {
    const id = ids[at] as number;
    made[id >>> 5] = (made[id >>> 5] as number) | (1 << (id & 31));
  }
  bits.set(key, made);
  return made;
}

/** The key behind the last one. */
export function endOf({ starts }: Column): number {
  return starts.length;
}

/** The number of ids in the posting lists of some keys. */
export function rowsOf({ starts }: Column, ranges: readonly KeyRange[]): number {
  const before = (key: number) => starts[Math.max(key, 1) - 1] as number;
  return ranges.reduce((sum, [low, high]) => sum + before(high) - before(low), 0);
}

/** The key of a value; none, but the place among the values, if no record has it. */
export function keyOf({ values = [] }: Column, value: FacetValue): KeyRange {
  const key = partitionPoint(values, (other) => compareStored(other, value) < 0) + 1;
  return [key, values[key - 1] === value ? key + 1 : key];
}

/** Ids above do not fit into a column: an array has a place for each. Keys above do not fit into 16 bits. */
export const MAX_COLUMN_ID = 2 ** 24 - 1;
const MAX_KEY = 65_535;

/** What a column counts as besides its arrays, so that no table has very many, and a text besides its characters. */
const COLUMN_BYTES = 65_536;
const TEXT_BYTES = 40;

/**
 * - `dictionary`: at most 65,535 different values, of which a record may have several.
 * - `values`: any number of values.
 * - `order`: texts of which there may be any number. They are not kept, so the column only gives their order.
 * - `ids`: all ids, under one value.
 */
export type ColumnKind = 'dictionary' | 'values' | 'order' | 'ids';

/** How many ids are put in their places between two other requests: about two milliseconds. */
const STEP = 65_536;

/** Makes a column of rows that come in the order of their values. */
export class ColumnBuilder {
  private ids = new Uint32Array(1_024);
  private length = 0;
  /** Where the rows of each key begin. */
  private readonly starts: number[] = [];
  private readonly values: FacetValue[] = [];
  private last: FacetValue | undefined;
  private valueBytes = COLUMN_BYTES;
  private maxId = 0;
  /** Whether the ids of each value came in their order. */
  private isSorted = true;

  /** @param maxBytes the most memory of the column, approximately */
  constructor(
    private readonly kind: ColumnKind,
    private readonly maxBytes: number,
  ) {}

  /** Adds an id of a value, behind those of all values before. */
  add(ofId: FacetValue, id: Id): void {
    const value = this.kind === 'ids' ? true : ofId;
    if (value !== this.last) {
      this.last = value;
      this.starts.push(this.length);
      if (this.kind !== 'order') {
        this.values.push(value);
        this.valueBytes += typeof value === 'string' ? TEXT_BYTES + 2 * value.length : 8;
      }
    } else if (id < (this.ids[this.length - 1] as number)) this.isSorted = false;
    if (this.length === this.ids.length) {
      const more = new Uint32Array(2 * this.length);
      more.set(this.ids);
      this.ids = more;
    }
    this.ids[this.length++] = id;
    if (id > this.maxId) this.maxId = id;
  }

  /** Whether a column can hold what was added. */
  get fits(): boolean {
    const isSmall = this.valueBytes + 4 * this.length + 2 * this.maxId + 4 * this.starts.length <= this.maxBytes;
    return isSmall && this.maxId <= MAX_COLUMN_ID && (this.kind !== 'dictionary' || this.values.length <= MAX_KEY);
  }

  /** @param next resolves after other requests */
  async finish(next: () => Promise<unknown>): Promise<Column> {
    const { maxId, length, kind } = this;
    const end = this.starts.length + 1;
    const keys = end > MAX_KEY + 1 ? new Uint32Array(maxId + 1) : new Uint16Array(maxId + 1);
    let records = 0;
    await this.each(next, (id, key) => {
      if (keys[id] !== 0) return;
      keys[id] = key;
      records++;
    });
    // If no record can have several values, it moved while the index was read, and is a changed record.
    const lists = records < length && kind === 'dictionary' ? await this.keysById(next) : undefined;
    const { ids, starts } = await this.postings(keys, lists, lists ? length : records, next);
    const arrays = [ids, starts, keys, ...(lists ? [lists.starts, lists.keys] : [])];
    // The bits of frequent values take at most twice the memory of the ids.
    const bytes = arrays.reduce((sum, { byteLength }) => sum + byteLength, this.valueBytes + 2 * ids.byteLength);
    return { ids, starts, keys, lists, values: kind === 'order' ? undefined : this.values, bits: new Map(), bytes };
  }

  /** The posting lists of keys, each in the order of ids. */
  private async postings(
    keys: Column['keys'],
    lists: Column['lists'],
    rows: number,
    next: () => Promise<unknown>,
  ): Promise<Pick<Column, 'ids' | 'starts'>> {
    const starts = new Uint32Array(this.starts.length + 1);
    starts.set(this.starts);
    starts[this.starts.length] = this.length;
    if (this.isSorted && rows === this.length) return { ids: this.ids.slice(0, rows), starts };
    if (rows < this.length) {
      starts.fill(0);
      for (const key of keys) if (key !== 0) starts[key] = (starts[key] as number) + 1;
      addUp(starts);
    }
    const ids = new Uint32Array(rows);
    const ends = starts.slice();
    const put = (id: Id, key: number) => {
      const at = ends[key - 1] as number;
      ends[key - 1] = at + 1;
      ids[at] = id;
    };
    for (let id = 0; id < keys.length; id++) {
      if (lists)
        for (let at = lists.starts[id] as number; at < (lists.starts[id + 1] as number); at++)
          put(id, lists.keys[at] as number);
      else if (keys[id] !== 0) put(id, keys[id] as number);
      if (id % STEP === STEP - 1) await next();
    }
    return { ids, starts };
  }

  /** Calls a function for each row, in steps. */
  private async each(next: () => Promise<unknown>, use: (id: Id, key: number) => void): Promise<void> {
    const { ids, starts, length } = this;
    for (let at = 0, key = 0; at < length; at++) {
      while (at >= (starts[key] ?? length)) key++;
      use(ids[at] as number, key);
      if (at % STEP === STEP - 1) await next();
    }
  }

  /** The keys of each id, one id after the other. */
  private async keysById(next: () => Promise<unknown>): Promise<NonNullable<Column['lists']>> {
    const starts = new Uint32Array(this.maxId + 2);
    const keys = new Uint16Array(this.length);
    await this.each(next, (id) => {
      starts[id] = (starts[id] as number) + 1;
    });
    addUp(starts);
    // From the end of the keys of an id to their start.
    await this.each(next, (id, key) => {
      starts[id] = (starts[id] as number) - 1;
      keys[starts[id] as number] = key;
    });
    return { starts, keys };
  }
}

/** Turns numbers into the sums up to each of them. */
function addUp(numbers: Uint32Array): void {
  for (let at = 1; at < numbers.length; at++) numbers[at] = (numbers[at] as number) + (numbers[at - 1] as number);
}
