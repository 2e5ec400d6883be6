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
  /** By key: the posting lists of values that many records have, once more as a bit for each id. Made when needed. */
  readonly bits: Map<number, Bits>;
  readonly bytes: number;
}

/** A bit for each id, 32 in a word. */
export type Bits = Int32Array;

/** A value is frequent if one record of so many has it. Then bits take at most half the memory of its posting list. */
const FREQUENT = 64;

/** The ids with a value as bits; undefined if few records have it. */
export function bitsOf({ ids, starts, keys, bits }: Column, key: number): Bits | undefined {
  const [start, end] = [starts[key - 1] as number, starts[key] as number];
  if (!isFrequent(end - start, keys.length)) return undefined;
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

function isFrequent(rows: number, records: number): boolean {
  return rows > records / FREQUENT;
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

/** The lowest key whose value is not before some value. */
export function firstKey({ values = [] }: Column, isBefore: (value: FacetValue) => boolean): number {
  return partitionPoint(values, isBefore) + 1;
}

/** The key of a value; none if no record has it. */
export function keyOf(column: Column, value: FacetValue): KeyRange {
  const key = firstKey(column, (other) => compareStored(other, value) < 0);
  return [key, column.values?.[key - 1] === value ? key + 1 : key];
}

/** Ids above do not fit into a column: an array has a place for each. Keys above do not fit into 16 bits. */
export const MAX_COLUMN_ID = 2 ** 24 - 1;
const MAX_KEY = 65_535;

/** What a column takes besides its arrays, and a text besides its characters. */
const COLUMN_BYTES = 1_024;
const TEXT_BYTES = 40;

/**
 * - `dictionary`: at most 65,535 different values.
 * - `values`: any number of values.
 * - `order`: texts of which there may be any number. They are not kept, so the column only gives their order.
 * - `ids`: all ids, under one value.
 */
export type ColumnKind = 'dictionary' | 'values' | 'order' | 'ids';

/** How many ids are put in their places between two other requests: about two milliseconds. */
const STEP = 65_536;

/** Makes a column from an index, which has the rows in the order of their values and then of their ids. */
export class ColumnBuilder {
  private ids = new Uint32Array(1_024);
  private length = 0;
  private readonly starts: number[] = [];
  private values: FacetValue[] = [];
  private last: FacetValue | undefined;
  private valueBytes = 0;
  private maxId = 0;

  constructor(private readonly kind: ColumnKind) {}

  /** The memory until now, approximately that of the column. */
  get bytes(): number {
    return COLUMN_BYTES + 4 * this.length + 2 * this.maxId + 4 * this.starts.length + this.valueBytes;
  }

  /** Adds ids of one value, behind all before. @returns false if a column cannot hold them */
  add(value: FacetValue, ids: readonly Id[]): boolean {
    if (this.starts.length === 0 || value !== this.last) {
      this.starts.push(this.length);
      this.last = value;
      if (this.kind !== 'order') {
        this.values.push(value);
        this.valueBytes += typeof value === 'string' ? TEXT_BYTES + 2 * value.length : 8;
      }
      if (this.kind === 'dictionary' && this.values.length > MAX_KEY) return false;
    }
    if (this.length + ids.length > this.ids.length) {
      const more = new Uint32Array(2 * (this.length + ids.length));
      more.set(this.ids);
      this.ids = more;
    }
    for (const id of ids) {
      this.ids[this.length++] = id;
      if (id > this.maxId) this.maxId = id;
    }
    return this.maxId <= MAX_COLUMN_ID;
  }

  /** Adds ids, each with its value. */
  addEach(ids: readonly Id[], values: readonly FacetValue[]): boolean {
    if (this.kind === 'ids') return this.add(true, ids);
    return ids.every((id, at) => this.add(values[at] as FacetValue, [id]));
  }

  /** @param next resolves after other requests */
  async finish(next: () => Promise<unknown>): Promise<Column> {
    const { maxId } = this;
    let ids: Uint32Array = this.ids.slice(0, this.length);
    const starts = new Uint32Array(this.starts.length + 1);
    starts.set(this.starts);
    starts[this.starts.length] = this.length;
    const keys = starts.length - 1 > MAX_KEY ? new Uint32Array(maxId + 1) : new Uint16Array(maxId + 1);
    const each: EachRow = async (use) => {
      for (let at = 0, key = 1; at < ids.length; at++) {
        while (at >= (starts[key] as number)) key++;
        use(ids[at] as number, key);
        if (at % STEP === STEP - 1) await next();
      }
    };
    let records = 0;
    await each((id, key) => {
      if (keys[id] !== 0) return;
      keys[id] = key;
      records++;
    });
    const hasTwins = records < ids.length;
    const lists = hasTwins && this.kind === 'dictionary' ? await keysById(maxId, ids.length, each) : undefined;
    if (this.kind === 'ids') ids = inOrder(ids, starts, keys);
    else if (hasTwins && !lists) ids = withoutTwins(ids, starts, keys);
    const values = this.kind === 'order' ? undefined : this.values;
    const arrays = [ids, starts, keys, ...(lists ? [lists.starts, lists.keys] : [])];
    const bytes = arrays.reduce((sum, { byteLength }) => sum + byteLength, COLUMN_BYTES);
    let frequent = 0;
    for (let key = 1; key < starts.length; key++)
      if (isFrequent((starts[key] as number) - (starts[key - 1] as number), keys.length)) frequent++;
    const ofBits = frequent * (keys.length / 8);
    return { ids, starts, keys, lists, values, bits: new Map(), bytes: bytes + ofBits + this.valueBytes };
  }
}

/** The ids that have a key in their order: they are the rows of one key. */
function inOrder(ids: Uint32Array, starts: Uint32Array, keys: Column['keys']): Uint32Array {
  let length = 0;
  for (let id = 0; id < keys.length; id++) if (keys[id] !== 0) ids[length++] = id;
  starts[1] = length;
  return ids.subarray(0, length);
}

/** Leaves out the later places of records that moved in their index while it was read. They are changed records. */
function withoutTwins(ids: Uint32Array, starts: Uint32Array, keys: Column['keys']): Uint32Array {
  let kept = 0;
  let at = 0;
  for (let key = 1; key < starts.length; key++) {
    for (const end = starts[key] as number; at < end; at++)
      if (keys[ids[at] as number] === key) ids[kept++] = ids[at] as number;
    starts[key] = kept;
  }
  return ids.slice(0, kept);
}

/** Calls a function for each row of a column, in steps. */
type EachRow = (use: (id: Id, key: number) => void) => Promise<void>;

/** The keys of each id, one id after the other. */
async function keysById(maxId: Id, rows: number, each: EachRow): Promise<NonNullable<Column['lists']>> {
  const starts = new Uint32Array(maxId + 2);
  const keys = new Uint16Array(rows);
  await each((id) => {
    starts[id] = (starts[id] as number) + 1;
  });
  for (let id = 1; id < starts.length; id++) starts[id] = (starts[id] as number) + (starts[id - 1] as number);
  // From the end of the keys of an id to their start.
  await each((id, key) => {
    starts[id] = (starts[id] as number) - 1;
    keys[starts[id] as number] = key;
  });
  return { starts, keys };
}
