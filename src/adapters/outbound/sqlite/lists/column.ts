import type { FacetValue } from '../../../../application/ports/list-query.js';
import type { Id } from '../../../../domain/record.js';
import { BLOCK_IDS } from '../full-text/index.js';

/** The most different values of a column of codes. Code 0 stands for none. */
const MAX_CODES = 65_535;

/** The value of a record in a field; null if it has none. */
export type ColumnValue = FacetValue | readonly FacetValue[] | null;

/**
 * What the records have in one field, by id, in blocks of {@link BLOCK_IDS} ids. A fork shares the blocks that it does not
 * change, so who reads a column sees it as it was.
 */
abstract class BlockColumn<Block> {
  private readonly own = new Set<number>();
  /** Approximately the memory of the blocks. */
  protected blockBytes = 0;

  protected constructor(readonly blocks: Map<number, Block>) {}

  /** Approximately the memory of the column. */
  get bytes(): number {
    return this.blockBytes;
  }

  abstract fork(): Column;
  /** Replaces the value of a record. @returns false if the column cannot hold it */
  abstract set(id: Id, value: ColumnValue): boolean;
  protected abstract copy(block: Block | undefined): Block;
  protected abstract bytesOf(block: Block): number;

  /** The block of an id, which may be changed. */
  protected writable(id: Id): Block {
    const number = Math.floor(id / BLOCK_IDS);
    const known = this.blocks.get(number);
    if (known !== undefined && this.own.has(number)) return known;
    const block = this.copy(known);
    this.own.add(number);
    this.blocks.set(number, block);
    if (known === undefined) this.blockBytes += this.bytesOf(block);
    return block;
  }
}

export type Column = CodeColumn | NumberColumn;

/** Places of records in a block of ids, in their order. */
export type Places = Uint16Array;

export const ALL_PLACES: Places = Uint16Array.from({ length: BLOCK_IDS }, (_, place) => place);

/** The codes of a block of records. */
interface CodeBlock {
  /** The first value of each record. */
  readonly first: Uint16Array;
  /** The further values, in any order: `count` times the place in the high 16 bits and the code in the low ones. */
  further: Uint32Array;
  count: number;
  /** What was selected of the whole block, by the name of the selection; the oldest first. */
  readonly selected: Map<string, Places>;
}

/** The most places that a block keeps as selected: those of several frequent values. */
const MAX_SELECTED = 8_192;

const NO_CODES: CodeBlock = {
  first: new Uint16Array(BLOCK_IDS),
  further: new Uint32Array(),
  count: 0,
  selected: new Map(),
};

/** The values as codes. */
export class CodeColumn extends BlockColumn<CodeBlock> {
  constructor(
    private readonly dictionary = new Dictionary(),
    blocks = new Map<number, CodeBlock>(),
  ) {
    super(blocks);
  }

  override get bytes(): number {
    return this.blockBytes + this.dictionary.bytes;
  }

  /** The value of code 1, and so on. */
  get values(): readonly FacetValue[] {
    return this.dictionary.values;
  }

  fork(): CodeColumn {
    const fork = new CodeColumn(this.dictionary, new Map(this.blocks));
    fork.blockBytes = this.blockBytes;
    return fork;
  }

  /** Adds a value that some records have besides their others. @returns false if there are too many values */
  add(value: FacetValue, ids: readonly Id[]): boolean {
    const code = this.dictionary.codeOf(value);
    for (const id of ids) this.put(this.writable(id), id % BLOCK_IDS, code);
    return code > 0;
  }

  set(id: Id, value: ColumnValue): boolean {
    const values =
      value === null ? [] : Array.isArray(value) ? (value as FacetValue[]) : [value as FacetValue];
    const codes = [...new Set(values)].map((one) => this.dictionary.codeOf(one));
    const place = id % BLOCK_IDS;
    const block = this.writable(id);
    block.first[place] = 0;
    const others = block.further.subarray(0, block.count).filter((one) => one >>> 16 !== place);
    block.further.set(others);
    block.count = others.length;
    for (const code of codes) this.put(block, place, code);
    return !codes.includes(0);
  }

  /**
   * Returns those of the places whose records have an allowed value.
   * @param name of the allowed values
   * @param allowed 1 at their codes; at 0 if records without value are allowed
   */
  select(block: number, places: Places, name: string, allowed: Uint8Array): Places {
    const codes = this.blocks.get(block) ?? NO_CODES;
    if (places !== ALL_PLACES) return allowedPlaces(codes, places, allowed);
    const { selected } = codes;
    const known = selected.get(name) ?? allowedPlaces(codes, places, allowed).slice();
    selected.delete(name);
    selected.set(name, known);
    let length = 0;
    for (const some of selected.values()) length += some.length;
    for (const [oldest, some] of selected) {
      if (length <= MAX_SELECTED) break;
      selected.delete(oldest);
      length -= some.length;
    }
    return known;
  }

  /** Counts the records at the places by their codes. */
  count(block: number, places: Places, counts: Uint32Array): void {
    const { first, further, count } = this.blocks.get(block) ?? NO_CODES;
    for (let at = 0; at < places.length; at++) {
      const code = first[places[at] as number] as number;
      counts[code] = (counts[code] as number) + 1;
    }
    if (count === 0 || places.length === 0) return;
    const isCounted = new Uint8Array(BLOCK_IDS);
    for (let at = 0; at < places.length; at++) isCounted[places[at] as number] = 1;
    for (let at = 0; at < count; at++) {
      const one = further[at] as number;
      const code = one & 0xffff;
      counts[code] = (counts[code] as number) + (isCounted[one >>> 16] as number);
    }
  }

  private put(block: CodeBlock, place: number, code: number): void {
    const { first, further, count } = block;
    if (first[place] === 0) {
      first[place] = code;
      return;
    }
    if (count === further.length) {
      block.further = new Uint32Array(Math.max(256, 2 * count));
      block.further.set(further);
      this.blockBytes += block.further.byteLength - further.byteLength;
    }
    block.further[count] = place * 65_536 + code;
    block.count++;
  }

  protected copy({ first, further, count }: CodeBlock = NO_CODES): CodeBlock {
    return { first: first.slice(), further: further.slice(), count, selected: new Map() };
  }

  protected bytesOf({ first, further }: CodeBlock): number {
    return first.byteLength + further.byteLength + MAX_SELECTED * Uint16Array.BYTES_PER_ELEMENT;
  }
}

/** Its loops have no branches, which a processor could not foresee. */
function allowedPlaces({ first, further, count }: CodeBlock, places: Places, allowed: Uint8Array): Places {
  const found = new Uint16Array(places.length);
  let length = 0;
  if (count === 0) {
    for (let at = 0; at < places.length; at++) {
      const place = places[at] as number;
      found[length] = place;
      length += allowed[first[place] as number] as number;
    }
    return found.subarray(0, length);
  }
  const isAllowed = new Uint8Array(BLOCK_IDS);
  for (let at = 0; at < count; at++) {
    const one = further[at] as number;
    const place = one >>> 16;
    isAllowed[place] = (isAllowed[place] as number) | (allowed[one & 0xffff] as number);
  }
  for (let at = 0; at < places.length; at++) {
    const place = places[at] as number;
    found[length] = place;
    length += (allowed[first[place] as number] as number) | (isAllowed[place] as number);
  }
  return found.subarray(0, length);
}

/** What a value takes in a {@link Dictionary} besides its characters. */
const VALUE_BYTES = 64;

/** The values of a field, each with a number from 1 on. It only grows, so a column and its forks share it. */
class Dictionary {
  readonly values: FacetValue[] = [];
  private readonly codes = new Map<FacetValue, number>();
  bytes = 0;

  /** @returns 0 if there are too many values */
  codeOf(value: FacetValue): number {
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

  set(id: Id, value: ColumnValue): boolean {
    this.writable(id)[id % BLOCK_IDS] = typeof value === 'number' ? value : Number.NaN;
    return true;
  }

  /** Returns those of the places whose records have a value between the two, both included. */
  select(block: number, places: Places, low: number, high: number): Places {
    const numbers = this.blocks.get(block) ?? NO_NUMBERS;
    const found = new Uint16Array(places.length);
    let length = 0;
    for (let at = 0; at < places.length; at++) {
      const place = places[at] as number;
      const number = numbers[place] as number;
      found[length] = place;
      length += Number(number >= low) & Number(number <= high);
    }
    return found.subarray(0, length);
  }

  protected copy(block?: Float64Array): Float64Array {
    return block?.slice() ?? new Float64Array(BLOCK_IDS).fill(Number.NaN);
  }

  protected bytesOf({ byteLength }: Float64Array): number {
    return byteLength;
  }
}
