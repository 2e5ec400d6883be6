import type { FacetValue } from '../../../../application/ports/list-query.js';
import type { Id } from '../../../../domain/record.js';
import { BLOCK_IDS } from '../full-text/index.js';

/** The most different values of a column of codes. Code 0 stands for none. */
const MAX_CODES = 65_535;

/** What a block takes besides the bytes of its numbers, and a value of a {@link Dictionary} besides its characters. */
const BLOCK_BYTES = 512;
const VALUE_BYTES = 96;

/** The value of a record in a field; null if it has none. */
export type ColumnValue = FacetValue | readonly FacetValue[] | null;

/**
 * What the records have in one field, by id, in blocks of {@link BLOCK_IDS} ids. A fork shares the blocks that it does not
 * change, so who reads a column sees it as it was.
 */
abstract class BlockColumn<Block> {
  private readonly own = new Set<number>();
  protected blockBytes = 0;

  protected constructor(readonly blocks: Map<number, Block>) {}

  /** The memory of the column. Blocks that it shares with others count in each. */
  get bytes(): number {
    return this.blockBytes;
  }

  abstract fork(): Column;
  /** Adds a value that some records have besides their others. @returns false if there are too many values */
  abstract add(value: FacetValue, ids: readonly Id[]): boolean;
  /** Makes the column ready after values were added, in steps of about a millisecond. */
  abstract finish(): Iterator<void>;
  /** Replaces the value of a record. @returns false if the column cannot hold it */
  abstract set(id: Id, value: ColumnValue): boolean;
  protected abstract copy(block: Block | undefined): Block;
  protected abstract bytesOf(block: Block | undefined): number;

  /** The block of an id, which may be changed. */
  protected writable(id: Id): Block {
    const number = blockOf(id);
    const known = this.blocks.get(number);
    if (known !== undefined && this.own.has(number)) return known;
    const block = this.copy(known);
    this.own.add(number);
    this.replace(number, block);
    return block;
  }

  protected replace(number: number, block: Block): void {
    this.blockBytes += this.bytesOf(block) - this.bytesOf(this.blocks.get(number));
    this.blocks.set(number, block);
  }
}

export type Column = CodeColumn | NumberColumn;

function blockOf(id: Id): number {
  return Math.floor(id / BLOCK_IDS);
}

/** Places of records in a block of ids, in their order. */
export type Places = Uint16Array;

export const ALL_PLACES: Places = Uint16Array.from({ length: BLOCK_IDS }, (_, place) => place);

/** Memory for the places that a query selects in one block after another. */
export function newPlaces(): Places {
  return new Uint16Array(BLOCK_IDS);
}

/** Where a selection from these places may be written: a place moves to the front, or stays. */
function selectionOf(places: Places, memory: Places): Places {
  return places === ALL_PLACES ? memory : places;
}

/** Whether the record at each place has an allowed value, besides its first one. */
const IS_ALLOWED = new Uint8Array(BLOCK_IDS);

/** The codes of a block of records. */
interface CodeBlock {
  /** The first value of each record. */
  readonly first: Uint16Array;
  /** The further values: the place in the high bits, the code in the low 16. They are in the order of places. */
  readonly further: Uint32Array;
  /** Where the further values of each place begin. */
  readonly starts: Uint32Array;
}

const NO_CODES: CodeBlock = {
  first: new Uint16Array(BLOCK_IDS),
  further: new Uint32Array(),
  starts: new Uint32Array(BLOCK_IDS + 1),
};

/** The values as codes. */
export class CodeColumn extends BlockColumn<CodeBlock> {
  /** The further values that were added, by block, in any order. */
  private readonly added = new Map<number, number[]>();

  constructor(
    private readonly dictionary = new Dictionary(),
    blocks = new Map<number, CodeBlock>(),
  ) {
    super(blocks);
  }

  override get bytes(): number {
    let bytes = this.blockBytes + this.dictionary.bytes;
    for (const { length } of this.added.values()) bytes += 8 * length;
    return bytes;
  }

  /** The value of code 1, and so on. */
  get values(): readonly FacetValue[] {
    return this.dictionary.values;
  }

  /** @returns undefined if no record has the value */
  codeOf(value: FacetValue): number | undefined {
    return this.dictionary.codes.get(value);
  }

  fork(): CodeColumn {
    const fork = new CodeColumn(this.dictionary, new Map(this.blocks));
    fork.blockBytes = this.blockBytes;
    return fork;
  }

  add(value: FacetValue, ids: readonly Id[]): boolean {
    const code = this.dictionary.add(value);
    for (const id of ids) {
      const { first } = this.writable(id);
      const place = id % BLOCK_IDS;
      if (first[place] === 0) first[place] = code;
      else {
        const added = this.added.get(blockOf(id)) ?? [];
        added.push(place * 65_536 + code);
        this.added.set(blockOf(id), added);
      }
    }
    return code > 0;
  }

  *finish(): Generator<void, void, void> {
    for (const [number, added] of this.added) {
      const { first } = this.blocks.get(number) ?? NO_CODES;
      const further = Uint32Array.from(added).sort();
      const starts = new Uint32Array(BLOCK_IDS + 1);
      for (const one of further) addTo(starts, (one >>> 16) + 1, 1);
      for (let place = 0; place < BLOCK_IDS; place++) addTo(starts, place + 1, starts[place] as number);
      this.replace(number, { first, further, starts });
      this.added.delete(number);
      yield;
    }
  }

  set(id: Id, value: ColumnValue): boolean {
    const values = Array.isArray(value) ? new Set(value as FacetValue[]) : [value as FacetValue | null];
    const codes: number[] = [];
    for (const one of values) if (one !== null) codes.push(this.dictionary.add(one));
    const place = id % BLOCK_IDS;
    const { first, further, starts } = this.blocks.get(blockOf(id)) ?? NO_CODES;
    const [start, end] = [starts[place] as number, starts[place + 1] as number];
    const known = [first[place] as number, ...further.subarray(start, end)].filter((one) => one !== 0);
    if (known.length === codes.length && known.every((one) => codes.includes(one & 0xffff))) return true;
    const [code = 0, ...rest] = codes;
    this.writable(id).first[place] = code;
    if (rest.length > 0 || end > start) {
      const changed = new Uint32Array(further.length + rest.length - (end - start));
      changed.set(further.subarray(0, start));
      changed.set(
        rest.map((one) => place * 65_536 + one),
        start,
      );
      changed.set(further.subarray(end), start + rest.length);
      const moved = starts.slice();
      for (let at = place + 1; at <= BLOCK_IDS; at++) addTo(moved, at, rest.length - (end - start));
      this.replace(blockOf(id), { first: this.writable(id).first, further: changed, starts: moved });
    }
    return !codes.includes(0);
  }

  /**
   * Returns those of the places whose records have an allowed value. It reuses their memory. The loops have no branches,
   * which a processor could not foresee.
   * @param memory of the result if the places are all
   * @param allowed 1 at their codes; at 0 if records without value are allowed
   */
  select(block: number, places: Places, memory: Places, allowed: Uint8Array): Places {
    const { first, further } = this.blocks.get(block) ?? NO_CODES;
    const selected = selectionOf(places, memory);
    let length = 0;
    if (further.length === 0 && places === ALL_PLACES) {
      for (let place = 0; place < BLOCK_IDS; place++) {
        selected[length] = place;
        length += allowed[first[place] as number] as number;
      }
      return selected.subarray(0, length);
    }
    if (further.length === 0) {
      for (let at = 0; at < places.length; at++) {
        const place = places[at] as number;
        selected[length] = place;
        length += allowed[first[place] as number] as number;
      }
      return selected.subarray(0, length);
    }
    IS_ALLOWED.fill(0);
    for (let at = 0; at < further.length; at++) {
      const place = (further[at] as number) >>> 16;
      const isAllowed = allowed[(further[at] as number) & 0xffff] as number;
      IS_ALLOWED[place] = (IS_ALLOWED[place] as number) | isAllowed;
    }
    for (let at = 0; at < places.length; at++) {
      const place = places[at] as number;
      selected[length] = place;
      length += (allowed[first[place] as number] as number) | (IS_ALLOWED[place] as number);
    }
    return selected.subarray(0, length);
  }

  /** Counts the records at the places by their codes. */
  count(block: number, places: Places, counts: Uint32Array): void {
    const { first, further, starts } = this.blocks.get(block) ?? NO_CODES;
    for (let at = 0; at < places.length; at++) addTo(counts, first[places[at] as number] as number, 1);
    if (places === ALL_PLACES)
      for (let at = 0; at < further.length; at++) addTo(counts, (further[at] as number) & 0xffff, 1);
    else if (further.length > 0)
      for (let at = 0; at < places.length; at++) {
        const place = places[at] as number;
        const end = starts[place + 1] as number;
        for (let other = starts[place] as number; other < end; other++)
          addTo(counts, (further[other] as number) & 0xffff, 1);
      }
  }

  protected copy({ first, further, starts }: CodeBlock = NO_CODES): CodeBlock {
    return { first: first.slice(), further, starts };
  }

  protected bytesOf(block: CodeBlock | undefined): number {
    if (!block) return 0;
    const { first, further, starts } = block;
    const lists = starts === NO_CODES.starts ? 0 : further.byteLength + starts.byteLength;
    return BLOCK_BYTES + first.byteLength + lists;
  }
}

function addTo(numbers: Uint32Array, at: number, number: number): void {
  numbers[at] = (numbers[at] as number) + number;
}

/** The values of a field, each with a number from 1 on. It only grows, so a column and its forks share it. */
class Dictionary {
  readonly values: FacetValue[] = [];
  readonly codes = new Map<FacetValue, number>();
  bytes = 0;

  /** @returns the code of the value; 0 if there are too many values */
  add(value: FacetValue): number {
    const known = this.codes.get(value);
    if (known !== undefined) return known;
    if (this.values.length === MAX_CODES) return 0;
    const code = this.values.push(value);
    this.codes.set(value, code);
    this.bytes += VALUE_BYTES + (typeof value === 'string' ? 2 * value.length : 0);
    return code;
  }
}

const NO_NUMBERS = new Float64Array(BLOCK_IDS).fill(Number.NaN);

/** The values as numbers; NaN if a record has none. */
export class NumberColumn extends BlockColumn<Float64Array> {
  constructor(blocks = new Map<number, Float64Array>()) {
    super(blocks);
  }

  fork(): NumberColumn {
    const fork = new NumberColumn(new Map(this.blocks));
    fork.blockBytes = this.blockBytes;
    return fork;
  }

  add(value: FacetValue, ids: readonly Id[]): boolean {
    return ids.every((id) => this.set(id, value));
  }

  finish(): Iterator<void> {
    return [].values();
  }

  set(id: Id, value: ColumnValue): boolean {
    const number = typeof value === 'number' ? value : Number.NaN;
    const known = (this.blocks.get(blockOf(id)) ?? NO_NUMBERS)[id % BLOCK_IDS];
    if (!Object.is(known, number)) this.writable(id)[id % BLOCK_IDS] = number;
    return true;
  }

  /** Returns those of the places whose records have a value between the two, both included; see {@link CodeColumn.select}. */
  select(block: number, places: Places, memory: Places, low: number, high: number): Places {
    const numbers = this.blocks.get(block) ?? NO_NUMBERS;
    const selected = selectionOf(places, memory);
    let length = 0;
    for (let at = 0; at < places.length; at++) {
      const place = places[at] as number;
      const number = numbers[place] as number;
      selected[length] = place;
      length += Number(number >= low) & Number(number <= high);
    }
    return selected.subarray(0, length);
  }

  protected copy(block = NO_NUMBERS): Float64Array {
    return block.slice();
  }

  protected bytesOf(block: Float64Array | undefined): number {
    return block ? BLOCK_BYTES + block.byteLength : 0;
  }
}
