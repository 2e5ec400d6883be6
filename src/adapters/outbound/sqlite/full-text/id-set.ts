import type { Id } from '../../../../domain/record.js';
import { BLOCK_IDS } from './index.js';

/** Chosen places of a block of {@link BLOCK_IDS} ids, a bit each. */
export type Bits = Int32Array;

/** Places of a block of ids, in their order. */
export type Places = Uint16Array;

const WORDS = BLOCK_IDS / 32;

export function newBits(): Bits {
  return new Int32Array(WORDS);
}

export function newPlaces(): Places {
  return new Uint16Array(BLOCK_IDS);
}

export function blockOf(id: Id): number {
  return Math.floor(id / BLOCK_IDS);
}

export function setBit(bits: Bits, place: number): void {
  bits[place >>> 5] = (bits[place >>> 5] as number) | (1 << (place & 31));
}

/** Returns the number of chosen places. */
export function count(bits: Bits): number {
  let chosen = 0;
  for (let word = 0; word < WORDS; word++)
    for (let left = bits[word] as number; left !== 0; left &= left - 1) chosen++;
  return chosen;
}

/** Returns the chosen places, in this memory. */
export function placesOf(bits: Bits, memory: Places): Places {
  let length = 0;
  for (let word = 0; word < WORDS; word++)
    for (let left = bits[word] as number; left !== 0; left &= left - 1)
      memory[length++] = 32 * word + 31 - Math.clz32(left & -left);
  return memory.subarray(0, length);
}

/** A set of ids. It takes memory for blocks of ids, of which few are empty. */
export class IdSet {
  private readonly blocks = new Map<number, Bits>();
  private number = -1;
  private bits: Bits | undefined;
  size = 0;

  constructor(ids: Iterable<Id> = []) {
    for (const id of ids) this.add(id);
  }

  add(id: Id): void {
    if (this.has(id)) return;
    setBit(this.bits ?? this.addBlock(), id % BLOCK_IDS);
    this.size++;
  }

  /** The block of the last id is kept at hand: ids often come in their order. */
  has(id: Id): boolean {
    const number = blockOf(id);
    if (number !== this.number) {
      this.number = number;
      this.bits = this.blocks.get(number);
    }
    const place = id % BLOCK_IDS;
    return (((this.bits?.[place >>> 5] ?? 0) >>> (place & 31)) & 1) === 1;
  }

  /** The ids of a block; undefined if there are none. */
  bitsIn(block: number): Bits | undefined {
    return this.blocks.get(block);
  }

  /** Returns the ids that are in the other set too; or those that are not. */
  narrowedBy(other: IdSet, isIn = true): IdSet {
    const narrowed = new IdSet();
    for (const [number, bits] of this.blocks) {
      const others = other.blocks.get(number);
      if (!others && isIn) continue;
      const left = others
        ? bits.map((word, at) => word & (isIn ? (others[at] as number) : ~(others[at] as number)))
        : bits.slice();
      narrowed.blocks.set(number, left);
      narrowed.size += count(left);
    }
    return narrowed;
  }

  *[Symbol.iterator](): Generator<Id, void, void> {
    for (const [block, bits] of this.blocks)
      for (const place of placesOf(bits, newPlaces())) yield block * BLOCK_IDS + place;
  }

  private addBlock(): Bits {
    this.bits = newBits();
    this.blocks.set(this.number, this.bits);
    return this.bits;
  }
}
