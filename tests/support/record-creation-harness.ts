import { expect } from 'chai';
import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/expiring.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import type { Clock } from '#src/application/ports/clock.js';
import type { IdempotencyStore } from '#src/application/ports/idempotency-store.js';
import type { Repository } from '#src/application/ports/repository.js';
import { IdAllocator, type IdPool } from '#src/application/records/id-allocator.js';
import type { Candidate } from '#src/application/records/record-format.js';
import type { Creation } from '#src/application/records/record-service.js';
import { RecordWriter, type WriteOutcome } from '#src/application/records/record-writer.js';
import type { IdempotentRequest } from '#src/application/records/write-conditions.js';
import { AppError, fieldIssue } from '#src/domain/errors.js';
import type { Product } from '#src/domain/product.js';
import type { Id } from '#src/domain/record.js';
import { CountingBackoff, FakeClock } from './fakes.js';
import { ENDLESS, PRODUCTS } from './tables.js';

/** Gives out the returned ids first. */
class RecyclingIds implements IdPool {
  private returned: Id[] = [];
  private readonly allocator: IdAllocator;

  constructor(records: Repository<Product>) {
    this.allocator = new IdAllocator(records as Repository<never>);
  }

  async take(count: number): Promise<Id[]> {
    const reused = this.returned.splice(0, count);
    return [...reused, ...(await this.allocator.take(count - reused.length))];
  }

  giveBack(ids: readonly Id[]): void {
    this.returned.push(...ids);
  }
}

/**
 * The stores, which outlive every process, and a validator that can refuse fields, as that of orders does if a
 * reference is missing.
 */
export class RecordCreationHarness {
  readonly records = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
  readonly reservations = new MemoryIdempotencyStore();
  /** Returns whether the validator refuses these fields now. */
  refuses: (fields: Product) => boolean = () => false;

  private readonly references = async (candidates: readonly Candidate<Product>[]) =>
    candidates.map(({ draft }) =>
      this.refuses(draft.fields as Product) ? [fieldIssue('reference_not_found', ['name'], 'is missing')] : [],
    );

  /** Starts a process with its own ids. @param through wraps each port of the process */
  process(
    through: <Port extends object>(port: Port) => Port = (port) => port,
    clock: Clock = new FakeClock(),
  ): Process {
    const records: Repository<Product> = through(this.records);
    const reservations: IdempotencyStore = through(this.reservations);
    const rules = through({ references: this.references });
    const ids = new RecyclingIds(records);
    const { fields } = PRODUCTS;
    const backoff = new CountingBackoff();
    const writer = new RecordWriter({ records, reservations, ids, clock, backoff, rules, fields });
    return async (...creations) => {
      const writes = creations.map(({ draft, idempotency }) => ({ draft: () => draft, idempotency }));
      return (await writer.writeAll(writes)).map(outcome);
    };
  }

  async listed(): Promise<Id[]> {
    const { records } = await this.records.list({ limit: 100, filters: [], order: [] });
    return records.map(({ id }) => id);
  }

  async reserved(key = 'key'): Promise<Id | undefined> {
    return (await this.reservations.find([key])).get(key)?.id;
  }

  async publishIfAbsent(sku: string): Promise<Id> {
    const id = await this.records.reserveIds(1);
    const record = { id, version: 1, createdAt: 0, updatedAt: 0, fields: { name: 'Other', sku } };
    await this.records.insertAll([record]);
    return id;
  }
}

export type Process = (...creations: Creation<Product>[]) => Promise<Outcome[]>;

/** The result of a creation: the record with the exact text of its fields, or the error code. */
export type Outcome = { id: Id; text: string; isReplay: boolean } | string;

function outcome(creation: WriteOutcome<Product>): Outcome {
  if (creation instanceof AppError) return creation.code;
  if (creation.kind === 'absent') throw new Error('A creation has no record.');
  const { kind, record } = creation;
  return { id: record.id, text: JSON.stringify(record.fields), isReplay: kind === 'replayed' };
}

export const SKU = 'L-1';
/** The same body twice, in different key orders. */
const WAYS: readonly Product[] = [
  { name: 'Lamp', sku: SKU, attributes: { colour: 'red', watts: 7 } },
  { attributes: { watts: 7, colour: 'red' }, sku: SKU, name: 'Lamp' },
];

/** Returns a creation with the same body each time, but with different bytes. */
export const lamp = (way = 0, key = 'key'): Creation<Product> =>
  keyed(WAYS[way % 2] ?? { name: '' }, { key, fingerprint: 'a lamp', storesFields: true });

export const torch = (key = 'key'): Creation<Product> =>
  keyed({ name: 'Torch' }, { key, fingerprint: 'a torch', storesFields: true });

export function keyed(fields: Product, idempotency?: IdempotentRequest): Creation<Product> {
  return { draft: { fields, issues: [] }, idempotency };
}

export const made = (outcomes: readonly Outcome[]) => outcomes.filter((response) => typeof response !== 'string');
export const refused = (outcomes: readonly Outcome[]) => outcomes.filter((response) => typeof response === 'string');

/** Expects one record in all successes, and `fresh` successes that are no replay. @returns the id of the record */
export function expectOneRecord(outcomes: readonly Outcome[], fresh: number): Id {
  const successes = made(outcomes);
  expect(new Set(successes.map(({ id }) => id)), 'one id').to.have.length(1);
  expect(new Set(successes.map(({ text }) => text)), 'one text').to.have.length(1);
  expect(
    successes.filter(({ isReplay }) => !isReplay),
    'successes without replay',
  ).to.have.length(fresh);
  return successes[0]?.id ?? 0;
}

/**
 * Returns a wrapper of ports that replaces one method.
 * @param replacement may call the original method, and returns the result
 */
export function withMethod(name: string, replacement: (call: () => unknown, args: unknown[]) => Promise<unknown>) {
  return <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, property) => {
        const method = Reflect.get(target, property, target);
        if (typeof method !== 'function') return method;
        const call = (args: unknown[]) => method.apply(target, args);
        return (...args: unknown[]) => (property === name ? replacement(() => call(args), args) : call(args));
      },
    });
}

/** Never resolves, as if the process had died. */
export const death = () => new Promise<never>(() => {});

/** Returns the outcomes of an attempt, or `lost` if it failed or does not end. */
export async function endOf(attempt: Promise<Outcome[]>): Promise<Outcome[] | 'lost'> {
  const noResult = new Promise<'lost'>((resolve) => setImmediate(resolve, 'lost'));
  return Promise.race([attempt.catch(() => 'lost' as const), noResult]);
}
