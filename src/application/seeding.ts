import { CatalogueError } from '../domain/errors.js';
import { normalProduct, type Product, productFaults } from '../domain/product.js';
import type { Versioned } from '../domain/record.js';
import type { Clock } from './ports/clock.js';
import type { InsertOutcome, Repository } from './ports/repository.js';
import { sampleProduct } from './sample-product.js';
import { SpareIds } from './spare-ids.js';

/** So many are written at once, so that they share a commit. */
const BATCH = 1_000;

export interface SeedingProgress {
  readonly made: number;
  /** Their sku was taken: as a rule by themselves, at an earlier time. */
  readonly existing: number;
}

export interface SeedingDependencies {
  readonly products: Pick<Repository<Product>, 'reserveIds' | 'releaseIds' | 'insertAll'>;
  readonly clock: Clock;
}

/** Fills a catalogue with sample products. May be stopped and run again: what is there is not made twice. */
export class Seeding {
  constructor(private readonly deps: SeedingDependencies) {}

  /**
   * Brings the catalogue to hold the first `count` products of a seed. Goes on with the next batch when that is asked
   * for; whoever asks no more leaves the rest for another time.
   * @returns how far it has come, after each batch
   * @throws CatalogueError `unavailable`
   */
  async *fill(seed: number, count: number): AsyncGenerator<SeedingProgress, void, void> {
    const ids = new SpareIds(this.deps.products);
    let progress: SeedingProgress = { made: 0, existing: 0 };
    try {
      for (let first = 1; first <= count; first += BATCH) {
        const records = await this.records(seed, first, Math.min(BATCH, count - first + 1), ids);
        const outcomes = await this.deps.products.insertAll(records);
        const refused = records.filter((_, at) => !isMade(outcomes[at]));
        ids.giveBack(refused.map(({ id }) => id));
        progress = {
          made: progress.made + records.length - refused.length,
          existing: progress.existing + refused.length,
        };
        yield progress;
      }
    } finally {
      await ids.release();
    }
  }

  private async records(
    seed: number,
    first: number,
    count: number,
    ids: SpareIds,
  ): Promise<Versioned<Product>[]> {
    const taken = await ids.take(count);
    return taken.map((id, at) => {
      const fields = judged(sampleProduct(seed, first + at));
      const now = this.deps.clock.now();
      return { id, version: 1, createdAt: now, updatedAt: now, fields };
    });
  }
}

function judged(product: Product): Product {
  const faults = productFaults(product);
  if (faults.length > 0) throw new Error(`A sample breaks the rules: ${JSON.stringify([product, faults])}`);
  return normalProduct(product);
}

/** @throws whatever refused it but a sku that is taken */
function isMade(outcome: InsertOutcome | undefined): boolean {
  if (outcome === 'inserted') return true;
  if (outcome instanceof CatalogueError && outcome.code === 'duplicate_value') return false;
  throw outcome instanceof CatalogueError ? outcome : new Error('The store gave out an id twice.');
}
