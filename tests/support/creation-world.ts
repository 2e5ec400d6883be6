import { expect } from 'chai';
import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/idempotency-store.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import type { IdempotencyStore } from '#src/application/ports/idempotency-store.js';
import type { Repository } from '#src/application/ports/repository.js';
import {
  type Creation,
  type CreationOutcome,
  RecordCreator,
} from '#src/application/records/create-records.js';
import { IdAllocator, type IdPool } from '#src/application/records/id-allocator.js';
import type { IdempotentRequest } from '#src/application/records/idempotency.js';
import type { Draft } from '#src/application/records/record-view.js';
import { AppError } from '#src/domain/errors.js';
import type { Product } from '#src/domain/product.js';
import type { Id } from '#src/domain/record.js';
import { FakeClock } from './fakes.js';
import { ENDLESS, PRODUCTS } from './tables.js';

/** Hands out first what it got back. */
class RecyclingIds implements IdPool {
  private returned: Id[] = [];
  private readonly leased: IdAllocator;

  constructor(records: Repository<Product>) {
    this.leased = new IdAllocator(records as Repository<never>);
  }

  async take(count: number): Promise<Id[]> {
    const again = this.returned.splice(0, count);
    return [...again, ...(await this.leased.take(count - again.length))];
  }

  giveBack(ids: readonly Id[]): void {
    this.returned.push(...ids);
  }
}

/** The stores that outlive every process, and a validator that refuses like one of orders whose product is not there. */
export class World {
  readonly records = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
  readonly reservations = new MemoryIdempotencyStore();
  /** Which fields the validator refuses now. */
  refuses: (fields: Product) => boolean = () => false;

  private readonly validate = async (drafts: readonly Draft<Product>[]) =>
    drafts.map(({ fields }) => {
      const whole = fields as Product;
      return this.refuses(whole) ? new AppError('validation_failed', 'refused') : whole;
    });

  /** A process of its own, with ids of its own. */
  process(through: <Port extends object>(port: Port) => Port = (port) => port): Process {
    const records: Repository<Product> = through(this.records);
    const reservations: IdempotencyStore = through(this.reservations);
    const { validate } = through({ validate: this.validate });
    const ids = new RecyclingIds(records);
    const creation = new RecordCreator({ records, reservations, ids, clock: new FakeClock(), validate });
    return async (...creations) => (await creation.createAll(creations)).map(outcome);
  }

  async listed(): Promise<Id[]> {
    const { records } = await this.records.list({ limit: 100, filters: [], order: [] });
    return records.map(({ id }) => id);
  }

  async reserved(key = 'key'): Promise<Id | undefined> {
    return (await this.reservations.find([key])).get(key)?.id;
  }

  async occupy(sku: string): Promise<Id> {
    const id = await this.records.reserveIds(1);
    const record = { id, version: 1, createdAt: 0, updatedAt: 0, fields: { name: 'Other', sku } };
    await this.records.insert(record);
    return id;
  }
}

export type Process = (...creations: Creation<Product>[]) => Promise<Outcome[]>;

/** An answer: what it shows, byte by byte, or the code of the error. */
export type Outcome = { id: Id; text: string; isReplay: boolean } | string;

function outcome(outcome: CreationOutcome<Product>): Outcome {
  if (outcome instanceof AppError) return outcome.code;
  const { record, isReplay } = outcome;
  return { id: record.id, text: JSON.stringify(record.fields), isReplay };
}

export const SKU = 'L-1';
export const WAYS: readonly Product[] = [
  { name: 'Lamp', sku: SKU, attributes: { colour: 'red', watts: 7 } },
  { attributes: { watts: 7, colour: 'red' }, sku: SKU, name: 'Lamp' },
];

/** The same body each time, and not the same bytes. */
export const lamp = (way = 0, key = 'key'): Creation<Product> =>
  keyed(WAYS[way % 2] ?? { name: '' }, { key, fingerprint: 'a lamp', storesFields: true });

export const torch = (key = 'key'): Creation<Product> =>
  keyed({ name: 'Torch' }, { key, fingerprint: 'a torch', storesFields: true });

export function keyed(fields: Product, once?: IdempotentRequest): Creation<Product> {
  return { draft: { fields, issues: [] }, idempotency: once };
}

export const made = (responses: readonly Outcome[]) =>
  responses.filter((response) => typeof response !== 'string');
export const refused = (responses: readonly Outcome[]) =>
  responses.filter((response) => typeof response === 'string');

/** @returns the id that they all tell */
export function expectOneRecord(responses: readonly Outcome[], fresh: number): Id {
  const successes = made(responses);
  expect(new Set(successes.map(({ id }) => id)), 'one id').to.have.length(1);
  expect(new Set(successes.map(({ text }) => text)), 'one answer').to.have.length(1);
  expect(
    successes.filter(({ isReplay }) => !isReplay),
    'answers without replay',
  ).to.have.length(fresh);
  return successes[0]?.id ?? 0;
}

/**
 * Ports of which one call goes another way.
 * @param way may do the call, and tells what came of it
 */
export function differing(name: string, way: (call: () => unknown, args: unknown[]) => Promise<unknown>) {
  return <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, property) => {
        const method = Reflect.get(target, property, target);
        if (typeof method !== 'function') return method;
        const call = (args: unknown[]) => method.apply(target, args);
        return (...args: unknown[]) => (property === name ? way(() => call(args), args) : call(args));
      },
    });
}

/** The process is gone. */
export const death = () => new Promise<never>(() => {});

/** What came of it: answers, or nothing that anybody would learn of. */
export async function endOf(attempt: Promise<Outcome[]>): Promise<Outcome[] | 'lost'> {
  const silence = new Promise<'lost'>((lost) => setImmediate(lost, 'lost'));
  return Promise.race([attempt.catch(() => 'lost' as const), silence]);
}
