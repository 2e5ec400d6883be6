import { CatalogueError } from '../domain/errors.js';
import { normalizeProduct, type Product, validateProduct } from '../domain/product.js';
import type { Clock } from './ports/clock.js';
import type { IdempotencyStore } from './ports/idempotency-store.js';
import type { Repository } from './ports/repository.js';
import { type Creation, type CreationOutcome, RecordCreator } from './records/create-records.js';
import { SpareIds } from './records/id-allocator.js';
import { draftValidator } from './records/record-validator.js';
import { sampleProduct } from './sample-product.js';

/** So many are written at once, so that they share a commit. */
const BATCH = 1_000;

export interface SeedingProgress {
  readonly made: number;
  /** Their sku was taken: as a rule by themselves, at an earlier time. */
  readonly existing: number;
}

export interface SeedingDependencies {
  readonly products: Pick<Repository<Product>, 'reserveIds' | 'releaseIds' | 'insertAll' | 'findUsedIds'>;
  readonly reservations: IdempotencyStore;
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
    const creation = this.creation(ids);
    let progress: SeedingProgress = { made: 0, existing: 0 };
    try {
      for (let first = 1; first <= count; first += BATCH) {
        const outcomes = await creation.createAll(samples(seed, first, Math.min(BATCH, count - first + 1)));
        const made = outcomes.filter(isMade).length;
        progress = { made: progress.made + made, existing: progress.existing + outcomes.length - made };
        yield progress;
      }
    } finally {
      await ids.release();
    }
  }

  /** The way of everything that is created; what is refused uses up no id here, where nobody else takes any. */
  private creation(ids: SpareIds): RecordCreator<Product> {
    const { products: records, reservations, clock } = this.deps;
    return new RecordCreator({
      records,
      reservations,
      ids,
      clock,
      validate: draftValidator({ normalize: normalizeProduct }),
    });
  }
}

function samples(seed: number, first: number, count: number): Creation<Product>[] {
  return Array.from({ length: count }, (_, at) => {
    const fields = sampleProduct(seed, first + at);
    return { draft: { fields, issues: validateProduct(fields) } };
  });
}

/** @throws whatever refused it but a sku that is taken */
function isMade(outcome: CreationOutcome<Product>): boolean {
  if (!(outcome instanceof CatalogueError)) return true;
  if (outcome.code === 'duplicate_value') return false;
  throw outcome;
}
