import type { FacetValue, Filter } from '../../../../application/ports/list-query.js';
import type { Id } from '../../../../domain/record.js';
import { type Bits, blockOf, newBits, type Places, setBit } from '../full-text/id-set.js';
import { BLOCK_IDS } from '../full-text/index.js';

/** The most different values of a column of codes. Code 0 stands for none. */
const MAX_CODES = 65_535;

/** The filters, or ranges, whose selections a column remembers, and the most characters of their JSON text. */
const MAX_SELECTIONS = 16;
const MAX_SELECTION_NAME = 256;

/** What the bits of all selections of a block take, and what their names take. */
const SELECTIONS_BYTES = MAX_SELECTIONS * (BLOCK_IDS / 8 + 256);
export const SELECTION_NAMES_BYTES = MAX_SELECTIONS * (2 * MAX_SELECTION_NAME + 256);

/** What a block takes besides the bytes of its numbers, and a value of a {@link Dictionary} besides its characters. */
const BLOCK_BYTES = 512;
const VALUE_BYTES = 96;

/** The value of a record in a field; null if it has none. */
export type ColumnValue = FacetValue | readonly FacetValue[] | null;

/**
 * What the records have in one field, by id, in blocks of {@link BLOCK_IDS} ids. A fork shares the blocks that it does not
 * change, so who reads a column sees it as it was.
 */
abstract class BlockColumn<Block extends object> {
  private readonly own = new Set<number>();
  protected blockBytes = 0;

  protected constructor(readonly blocks: Map<number, Block>) {}

  /** The memory of the column. Blocks that it shares with others count in each. */
  get bytes(): number {
    return this.blockBytes;
  }

  fork(): this {
    const fork = this.over(new Map(this.blocks));
    fork.blockBytes = this.blockBytes;
    return fork;
  }

  /** Makes the column ready after values were added, in steps of about a millisecond. */
  finish(): Iterator<void> {
    return [].values();
  }

  /** Replaces the value of a record. @returns false if the column cannot hold it */
  abstract set(id: Id, value: ColumnValue): boolean;
  protected abstract over(blocks: Map<number, Block>): this;
  protected abstract copy(block: Block | undefined): Block;
  protected abstract bytesOf(block: Block): number;

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
    const known = this.blocks.get(number);
    this.blockBytes += this.bytesOf(block) - (known === undefined ? 0 : this.bytesOf(known));
    this.blocks.set(number, block);
  }
}

export type Column = CodeColumn | NumberColumn | TextColumn;

/** A column whose values have an order. */
export interface Ordering<Block> {
  block(number: number): Block;
  /** A block that has one value, at place 0. */
  blockWith(value: unknown): Block;
  compare(a: Block, placeInA: number, b: Block, placeInB: number): number;
}

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
    readonly selections = new Selections(),
    blocks = new Map<number, CodeBlock>(),
  ) {
    super(blocks);
  }

  override get bytes(): number {
    // Each selection has a byte for each value.
    let bytes = this.blockBytes + this.dictionary.bytes + MAX_SELECTIONS * this.values.length;
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

  /** Adds a value that some records have besides their others. @returns false if there are too many values */
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

  override *finish(): Generator<void, void, void> {
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
   * Selects the records of a block that have an allowed value.
   * @param allowed 1 at their codes; at 0 if records without value are allowed
   */
  select(block: number, allowed: Uint8Array): Bits {
    const { first, further } = this.blocks.get(block) ?? NO_CODES;
    const bits = newBits();
    for (let place = 0; place < BLOCK_IDS; place++)
      if (allowed[first[place] as number] === 1) setBit(bits, place);
    for (let at = 0; at < further.length; at++) {
      const one = further[at] as number;
      if (allowed[one & 0xffff] === 1) setBit(bits, one >>> 16);
    }
    return bits;
  }

  /** Counts the records at the places by their codes. */
  count(block: number, places: Places, counts: Uint32Array): void {
    const { first, further, starts } = this.blocks.get(block) ?? NO_CODES;
    for (let at = 0; at < places.length; at++) addTo(counts, first[places[at] as number] as number, 1);
    if (places.length === BLOCK_IDS)
      for (let at = 0; at < further.length; at++) addTo(counts, (further[at] as number) & 0xffff, 1);
    else if (further.length > 0)
      for (let at = 0; at < places.length; at++) {
        const place = places[at] as number;
        const end = starts[place + 1] as number;
        for (let other = starts[place] as number; other < end; other++)
          addTo(counts, (further[other] as number) & 0xffff, 1);
      }
  }

  protected over(blocks: Map<number, CodeBlock>): this {
    return new CodeColumn(this.dictionary, this.selections, blocks) as this;
  }

  protected copy({ first, further, starts }: CodeBlock = NO_CODES): CodeBlock {
    return { first: first.slice(), further, starts };
  }

  protected bytesOf({ first, further, starts }: CodeBlock): number {
    const lists = starts === NO_CODES.starts ? 0 : further.byteLength + starts.byteLength;
    return BLOCK_BYTES + first.byteLength + SELECTIONS_BYTES + lists;
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

/** What filters of a column select. */
export interface Selection {
  /** Which codes match: 1 at their numbers, at 0 if records without value match. It may lack the last ones. */
  allowed?: Uint8Array;
  /** By block: a block that a request has seen never changes. */
  readonly bits: WeakMap<object, Bits>;
}

/** What the filters that were used last select. A column and its forks share it. */
class Selections {
  /** By the text of the filters, the least recently used first. */
  private readonly kept = new Map<string, Selection>();

  has(filters: readonly Filter[]): boolean {
    return this.kept.has(JSON.stringify(filters));
  }

  /** It is remembered, unless the filters are long. */
  of(filters: readonly Filter[]): Selection {
    const name = JSON.stringify(filters);
    const selection = this.kept.get(name) ?? { bits: new WeakMap() };
    if (name.length > MAX_SELECTION_NAME) return selection;
    this.kept.delete(name);
    this.kept.set(name, selection);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MAX_SELECTIONS && oldest !== undefined) this.kept.delete(oldest);
    return selection;
  }
}

/** The numbers of a block of records. */
interface NumberBlock {
  readonly numbers: Float64Array;
}

const NO_NUMBERS: NumberBlock = { numbers: new Float64Array(BLOCK_IDS).fill(Number.NaN) };

/** The values as numbers; NaN if a record has none. */
export class NumberColumn extends BlockColumn<NumberBlock> implements Ordering<NumberBlock> {
  constructor(
    readonly selections = new Selections(),
    blocks = new Map<number, NumberBlock>(),
  ) {
    super(blocks);
  }

  set(id: Id, value: ColumnValue): boolean {
    const number = typeof value === 'number' ? value : Number.NaN;
    const known = this.block(blockOf(id)).numbers[id % BLOCK_IDS];
    if (!Object.is(known, number)) this.writable(id).numbers[id % BLOCK_IDS] = number;
    return true;
  }

  /** Selects the records of a block that have a value between the two, both included. */
  select(block: number, low: number, high: number): Bits {
    const { numbers } = this.block(block);
    const bits = newBits();
    for (let place = 0; place < BLOCK_IDS; place++)
      if ((numbers[place] as number) >= low && (numbers[place] as number) <= high) setBit(bits, place);
    return bits;
  }

  /** Leaves those of the places, in the memory that they have, whose records have such a value. */
  narrow(block: number, places: Places, low: number, high: number): Places {
    const { numbers } = this.block(block);
    let length = 0;
    for (let at = 0; at < places.length; at++) {
      const place = places[at] as number;
      const number = numbers[place] as number;
      places[length] = place;
      // A processor could not foresee a branch.
      length += Number(number >= low) & Number(number <= high);
    }
    return places.subarray(0, length);
  }

  block(number: number): NumberBlock {
    return this.blocks.get(number) ?? NO_NUMBERS;
  }

  blockWith(value: unknown): NumberBlock {
    return { numbers: Float64Array.of(Number(value)) };
  }

  compare(a: NumberBlock, placeInA: number, b: NumberBlock, placeInB: number): number {
    return (a.numbers[placeInA] as number) - (b.numbers[placeInB] as number);
  }

  protected over(blocks: Map<number, NumberBlock>): this {
    return new NumberColumn(this.selections, blocks) as this;
  }

  protected copy({ numbers } = NO_NUMBERS): NumberBlock {
    return { numbers: numbers.slice() };
  }

  protected bytesOf({ numbers }: NumberBlock): number {
    return BLOCK_BYTES + numbers.byteLength + SELECTIONS_BYTES;
  }
}

/** The texts of a block of records, as UTF-8, whose order is that of code points. Some bytes belong to no text. */
interface TextBlock {
  bytes: Buffer;
  /** The bytes in use. */
  length: number;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

const NO_TEXTS: TextBlock = {
  bytes: Buffer.alloc(0),
  length: 0,
  starts: new Uint32Array(BLOCK_IDS),
  ends: new Uint32Array(BLOCK_IDS),
};

/** How many bytes of new texts a block has room for, beside those of its texts. */
const ROOM = 1 / 4;

/** The most bytes of the texts of a block, 64 a record: to follow a change, the block is copied. */
const MAX_TEXTS_BYTES = 64 * BLOCK_IDS;

/** The values as texts; empty if a record has none. It holds no longer texts than {@link MAX_TEXTS_BYTES}. */
export class TextColumn extends BlockColumn<TextBlock> implements Ordering<TextBlock> {
  constructor(blocks = new Map<number, TextBlock>()) {
    super(blocks);
  }

  set(id: Id, value: ColumnValue): boolean {
    const text = Buffer.from(typeof value === 'string' ? value : '');
    const place = id % BLOCK_IDS;
    const { bytes, starts, ends } = this.block(blockOf(id));
    const [start, end] = [starts[place] as number, ends[place] as number];
    if (end - start === text.length && bytes.subarray(start, end).equals(text)) return true;
    const block = this.writable(id);
    if (block.length + text.length > block.bytes.length) {
      this.blockBytes -= this.bytesOf(block);
      const hasRoom = makeRoom(block, text.length);
      this.blockBytes += this.bytesOf(block);
      if (!hasRoom) return false;
    }
    block.starts[place] = block.length;
    block.bytes.set(text, block.length);
    block.length += text.length;
    block.ends[place] = block.length;
    return true;
  }

  block(number: number): TextBlock {
    return this.blocks.get(number) ?? NO_TEXTS;
  }

  blockWith(value: unknown): TextBlock {
    const bytes = Buffer.from(String(value));
    return {
      bytes,
      length: bytes.length,
      starts: Uint32Array.of(0),
      ends: Uint32Array.of(bytes.length),
    };
  }

  compare(a: TextBlock, placeInA: number, b: TextBlock, placeInB: number): number {
    let [at, other] = [a.starts[placeInA] as number, b.starts[placeInB] as number];
    const [end, otherEnd] = [a.ends[placeInA] as number, b.ends[placeInB] as number];
    for (; at < end && other < otherEnd; at++, other++) {
      const difference = (a.bytes[at] as number) - (b.bytes[other] as number);
      if (difference !== 0) return difference;
    }
    return end - at - (otherEnd - other);
  }

  protected over(blocks: Map<number, TextBlock>): this {
    return new TextColumn(blocks) as this;
  }

  protected copy({ bytes, length, starts, ends }: TextBlock = NO_TEXTS): TextBlock {
    return { bytes: Buffer.from(bytes), length, starts: starts.slice(), ends: ends.slice() };
  }

  protected bytesOf({ bytes, starts, ends }: TextBlock): number {
    return BLOCK_BYTES + bytes.length + starts.byteLength + ends.byteLength;
  }
}

/** Leaves out the bytes of no text, and adds room for so many and for more. @returns false if these are too many */
function makeRoom(block: TextBlock, length: number): boolean {
  const { starts, ends } = block;
  let used = 0;
  for (let place = 0; place < BLOCK_IDS; place++) used += (ends[place] as number) - (starts[place] as number);
  if (used + length > MAX_TEXTS_BYTES) return false;
  const bytes = Buffer.alloc(Math.ceil((used + length) * (1 + ROOM)));
  if (used === block.length) block.bytes.copy(bytes, 0, 0, used);
  else {
    block.length = 0;
    for (let place = 0; place < BLOCK_IDS; place++) {
      const copied = block.bytes.copy(bytes, block.length, starts[place], ends[place]);
      starts[place] = block.length;
      block.length += copied;
      ends[place] = block.length;
    }
  }
  block.bytes = bytes;
  return true;
}
