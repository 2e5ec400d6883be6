import { hash } from 'node:crypto';
import type { Repository } from '../../../application/ports/repository.js';
import { type IdPool, ReservedIds } from '../../../application/records/id-allocator.js';
import type { Draft } from '../../../application/records/record-format.js';
import type { RecordWriter, WriteOutcome } from '../../../application/records/record-writer.js';
import { AppError } from '../../../domain/errors.js';
import { hasCheckDigit, type Product } from '../../../domain/product.js';
import { readProgramFile } from '../../../shared/program.js';

export const SAMPLE_PRODUCTS = { min: 1, max: 10_000_000 } as const;
export const SAMPLE_SEED = { min: 0, max: Number.MAX_SAFE_INTEGER, default: 1 } as const;

/** The sku of a line is only the type of the product. */
export type SampleProduct = Product & { readonly sku: string };

/** The first ones are the most common. */
const MARKS = ['new', 'sale', 'gift'] as const;
const COLOURS = 'black white grey navy red green natural blue brown yellow teal pink orange ivory olive lilac'.split(
  ' ',
);
const SKU_DIGITS = 5;

let lines: readonly SampleProduct[] | undefined;

function readLines(): readonly SampleProduct[] {
  const text = readProgramFile('src/adapters/inbound/cli/samples.ndjson');
  return JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`);
}

/**
 * Returns a product for demonstrations and tests: the lines of the file, then further models of each.
 * @param index from 1
 * @returns the same product for the same seed and index; its sku is unique among them
 */
export function sampleProduct(seed: number, index: number): SampleProduct {
  lines ??= readLines();
  const line = lines[(index - 1) % lines.length] as SampleProduct;
  const sku = `${line.sku}-${base36(seed)}-${base36(index).padStart(SKU_DIGITS, '0')}`;
  if (seed === SAMPLE_SEED.default && index <= lines.length) return { ...line, sku };
  const { name, price, attributes, tags = [], gtin, group, stock } = line;
  const bytes = hash('sha256', `${seed}/${index}`, 'buffer');
  const [letter = 0, model = 0, cost = 0, pieces = 0, one = 0, two = 0, ...marks] = bytes;
  const colour = COLOURS[Math.floor((one * two * COLOURS.length) / 2 ** 16)] as string;
  return {
    ...line,
    name: `${String.fromCharCode(65 + (letter % 26))}${100 + model} ${name}`,
    sku,
    ...(price && { price: { ...price, amount: Math.ceil((price.amount * (64 + cost)) / 128) } }),
    ...(attributes && { attributes: { ...attributes, colour } }),
    tags: [...tags.slice(0, 1), ...MARKS.filter((_, at) => (marks[at] ?? 0) < 36 >> at)],
    ...(gtin !== undefined && { gtin: gtinOf(index) }),
    ...(group !== undefined && { group: `${group}-${base36(Math.ceil(index / lines.length))}` }),
    ...(stock !== undefined && { stock: Math.max(0, stock + pieces - 64) }),
  };
}

/** Of the prefix for use inside a company, which names no article of others (GS1 General Specifications, 2.1.11). */
function gtinOf(index: number): string {
  const digits = `2${String(index).padStart(11, '0')}`;
  return digits + [...'0123456789'].find((last) => hasCheckDigit(digits + last));
}

function base36(number: number): string {
  return number.toString(36).toUpperCase();
}

/** The number of products that share a commit. */
const COMMIT_BATCH = 1_000;

export interface SeedingProgress {
  readonly made: number;
  /** Products whose sku was in use, usually because an earlier run created them. */
  readonly existing: number;
}

/** Creates those of the first `count` products of a seed that are missing. */
export type Seeding = (seed: number, count: number) => AsyncGenerator<SeedingProgress, void, void>;

/**
 * Returns what fills a catalogue with sample products, batch by batch, and the progress after each. If its caller stops
 * iterating, a later run creates the rest. It throws the AppError `unavailable`.
 * @param writerWith returns what creates products as the service does, under these ids
 * @param draftOf returns the draft of a new product, with every issue of the body
 */
export function seeding(
  products: Pick<Repository<Product>, 'reserveIds' | 'releaseIds'>,
  writerWith: (ids: IdPool) => Pick<RecordWriter<Product>, 'writeAll'>,
  draftOf: (body: Product) => Draft<Product>,
): Seeding {
  return async function* (seed, count) {
    // A refused product uses no id, because only this writer has these ids.
    const ids = new ReservedIds(products);
    const writer = writerWith(ids);
    let progress: SeedingProgress = { made: 0, existing: 0 };
    try {
      for (let first = 1; first <= count; first += COMMIT_BATCH) {
        const length = Math.min(COMMIT_BATCH, count - first + 1);
        const drafts = Array.from({ length }, (_, at) => draftOf(sampleProduct(seed, first + at)));
        const outcomes = await writer.writeAll(drafts.map((draft) => ({ draft: () => draft })));
        const made = outcomes.filter(isMade).length;
        progress = { made: progress.made + made, existing: progress.existing + outcomes.length - made };
        yield progress;
      }
    } finally {
      await ids.release();
    }
  };
}

/** @throws the error that refused the product, unless its sku was in use */
function isMade(outcome: WriteOutcome<Product>): boolean {
  if (!(outcome instanceof AppError)) return true;
  if (outcome.code === 'duplicate_value') return false;
  throw outcome;
}
