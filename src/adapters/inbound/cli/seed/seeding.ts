import type { Clock } from '../../../../application/ports/clock.js';
import type { IdempotencyStore } from '../../../../application/ports/idempotency-store.js';
import type { Repository } from '../../../../application/ports/repository.js';
import {
  type Creation,
  type CreationOutcome,
  RecordCreator,
} from '../../../../application/records/create-records.js';
import { ReservedIds } from '../../../../application/records/id-allocator.js';
import type { Draft } from '../../../../application/records/record-format.js';
import { draftValidator } from '../../../../application/records/record-validator.js';
import { AppError } from '../../../../domain/errors.js';
import { normalizeProduct, type Product } from '../../../../domain/product.js';
import { sampleProduct } from './sample-product.js';

/** The number of products that share a commit. */
const COMMIT_BATCH = 1_000;

export interface SeedingProgress {
  readonly made: number;
  /** Products whose sku was in use, usually because an earlier run created them. */
  readonly existing: number;
}

export interface SeedingDependencies {
  readonly products: Pick<
    Repository<Product>,
    'reserveIds' | 'releaseIds' | 'insertAll' | 'findUsedIds' | 'findAllByUnique'
  >;
  readonly reservations: IdempotencyStore;
  readonly clock: Clock;
  /** Returns the draft of a new product, with every issue of the body. */
  readonly draft: (body: Product) => Draft<Product>;
}

/** Fills a catalogue with sample products. It may be stopped and run again, and creates only what is missing. */
export class Seeding {
  constructor(private readonly deps: SeedingDependencies) {}

  /**
   * Creates those of the first `count` products of a seed that are missing, batch by batch. If the caller stops
   * iterating, a later run creates the rest.
   * @returns the progress after each batch
   * @throws AppError `unavailable`
   */
  async *fill(seed: number, count: number): AsyncGenerator<SeedingProgress, void, void> {
    const ids = new ReservedIds(this.deps.products);
    const creation = this.creation(ids);
    let progress: SeedingProgress = { made: 0, existing: 0 };
    try {
      for (let first = 1; first <= count; first += COMMIT_BATCH) {
        const outcomes = await creation.createAll(
          this.samples(seed, first, Math.min(COMMIT_BATCH, count - first + 1)),
        );
        const made = outcomes.filter(isMade).length;
        progress = { made: progress.made + made, existing: progress.existing + outcomes.length - made };
        yield progress;
      }
    } finally {
      await ids.release();
    }
  }

  /** Creates records as the service does. A refused product uses no id, because only this writer has these ids. */
  private creation(ids: ReservedIds): RecordCreator<Product> {
    const { products: records, reservations, clock } = this.deps;
    return new RecordCreator({
      records,
      reservations,
      ids,
      clock,
      validate: draftValidator({ normalize: normalizeProduct }),
    });
  }

  private samples(seed: number, first: number, count: number): Creation<Product>[] {
    return Array.from({ length: count }, (_, at) => ({
      draft: this.deps.draft(sampleProduct(seed, first + at)),
    }));
  }
}

/** @throws the error that refused the product, unless its sku was in use */
function isMade(outcome: CreationOutcome<Product>): boolean {
  if (!(outcome instanceof AppError)) return true;
  if (outcome.code === 'duplicate_value') return false;
  throw outcome;
}
