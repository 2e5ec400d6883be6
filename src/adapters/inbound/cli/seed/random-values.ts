import { hash } from 'node:crypto';

const WORD_BYTES = 4;
const WORD_RANGE = 2 ** 32;

/**
 * Pseudorandom choices, always the same for the same key, because they come from a hash. They use only integers, sums
 * and products, which give the same results on every machine.
 */
export class RandomValues {
  private digest: Buffer;
  private at = 0;

  constructor(key: string) {
    this.digest = hash('sha512', key, 'buffer');
  }

  /** From 0 up to but not including 1. */
  fraction(): number {
    if (this.at === this.digest.length) {
      this.digest = hash('sha512', this.digest, 'buffer');
      this.at = 0;
    }
    const word = this.digest.readUInt32BE(this.at);
    this.at += WORD_BYTES;
    return word / WORD_RANGE;
  }

  /** True in `percent` of 100 draws on average. */
  isIn(percent: number): boolean {
    return this.fraction() * 100 < percent;
  }

  /** From `low` up to and including `high`. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  oneOf<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.fraction() * items.length)] ?? items[0];
  }

  /** Draws earlier items more often. */
  skewedOneOf<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.skewed() * items.length)] ?? items[0];
  }

  /** As {@link fraction}, but small values are more common. */
  skewed(): number {
    const fraction = this.fraction();
    return fraction * fraction * fraction;
  }
}
