import type { Repository } from '../../../../application/ports/repository.js';
import { type IdPool, ReservedIds } from '../../../../application/records/id-allocator.js';
import type { Draft } from '../../../../application/records/record-format.js';
import type {
  RecordWrite,
  RecordWriter,
  WriteOutcome,
} from '../../../../application/records/record-writer.js';
import { AppError } from '../../../../domain/errors.js';
import type { Product } from '../../../../domain/product.js';
import { sampleProduct } from './sample-product.js';

/** The number of products that share a commit. */
const COMMIT_BATCH = 1_000;

export interface SeedingProgress {
  readonly made: number;
  /** Products whose sku was in use, usually because an earlier run created them. */
  readonly existing: number;
}

export interface SeedingDependencies {
  readonly products: Pick<Repository<Product>, 'reserveIds' | 'releaseIds'>;
  /** Returns what creates products as the service does, under these ids. */
  readonly writer: (ids: IdPool) => Pick<RecordWriter<Product>, 'writeAll'>;
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
    // A refused product uses no id, because only this writer has these ids.
    const ids = new ReservedIds(this.deps.products);
    const writer = this.deps.writer(ids);
    let progress: SeedingProgress = { made: 0, existing: 0 };
    try {
      for (let first = 1; first <= count; first += COMMIT_BATCH) {
        const outcomes = await writer.writeAll(
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

  private samples(seed: number, first: number, count: number): RecordWrite<Product>[] {
    return Array.from({ length: count }, (_, at) => {
      const draft = this.deps.draft(sampleProduct(seed, first + at));
      return { draft: () => draft };
    });
  }
}

/** @throws the error that refused the product, unless its sku was in use */
function isMade(outcome: WriteOutcome<Product>): boolean {
  if (!(outcome instanceof AppError)) return true;
  if (outcome.code === 'duplicate_value') return false;
  throw outcome;
}
