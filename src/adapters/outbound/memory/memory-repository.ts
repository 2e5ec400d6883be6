import {
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type RecordTable,
} from '../../../application/list-query.js';
import type { InsertOutcome, Repository } from '../../../application/ports/repository.js';
import type { QueryBudget } from '../../../application/query-budget.js';
import { compareInOrder, valuesOf } from '../../../application/record-order.js';
import { CatalogueError, duplicateValue } from '../../../domain/errors.js';
import { uniqueFields } from '../../../domain/fields.js';
import type { Id, Versioned } from '../../../domain/record.js';
import { identityOf, matches } from './matching.js';

/** So many records are looked at before others have their turn. */
const CHUNK = 1_000;

/** Forgets everything when the process ends. */
export class MemoryRepository<Fields> implements Repository<Fields> {
  private readonly records = new Map<Id, Versioned<Fields>>();
  private readonly tombstones = new Set<Id>();
  private readonly unique: ReadonlyMap<string, Map<unknown, Id>>;
  private nextId: Id;

  constructor(
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
  ) {
    this.nextId = table.firstId;
    this.unique = new Map(uniqueFields(table.fields).map((field) => [field, new Map()]));
  }

  async reserveIds(count: number): Promise<Id> {
    const first = this.nextId;
    this.nextId += count;
    return first;
  }

  async releaseIds(first: Id, end: Id): Promise<void> {
    if (this.nextId === end) this.nextId = first;
  }

  async insert(record: Versioned<Fields>): Promise<boolean> {
    if (this.records.has(record.id) || this.tombstones.has(record.id)) return false;
    this.put(record);
    return true;
  }

  async insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]> {
    const outcomes: InsertOutcome[] = [];
    for (const record of records) {
      try {
        outcomes.push((await this.insert(record)) ? 'inserted' : 'taken');
      } catch (error) {
        if (!(error instanceof CatalogueError)) throw error;
        outcomes.push(error);
      }
    }
    return outcomes;
  }

  async find(id: Id): Promise<Versioned<Fields> | undefined> {
    return structuredClone(this.records.get(id));
  }

  async existing(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    return new Set(ids.filter((id) => this.records.has(id)));
  }

  async findByUnique(field: keyof Fields & string, value: string): Promise<Versioned<Fields> | undefined> {
    return structuredClone(this.records.get(this.unique.get(field)?.get(value) ?? 0));
  }

  async list({ limit, filters, order, from }: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const backwards = from?.side === 'before';
    const direction = backwards ? -1 : 1;
    const found: { readonly id: Id; readonly values: ReturnType<typeof valuesOf> }[] = [];
    for await (const record of this.matching(filters)) {
      const values = valuesOf(record, order);
      const distance = from ? compareInOrder(order, values, from.values) * direction : 1;
      if (distance > 0 || (distance === 0 && from?.inclusive)) found.push({ id: record.id, values });
    }
    found.sort((a, b) => compareInOrder(order, a.values, b.values) * direction);
    const records: Versioned<Fields>[] = [];
    let bytes = 0;
    let at = 0;
    for (; at < found.length && records.length < limit && bytes < MAX_PAGE_BYTES; at++) {
      const record = this.records.get(found[at]?.id ?? 0);
      if (!record) continue;
      records.push(structuredClone(record));
      bytes += JSON.stringify(record).length;
    }
    return { records: backwards ? records.reverse() : records, hasMore: at < found.length };
  }

  async count(filters: readonly Filter[]): Promise<number> {
    let count = 0;
    for await (const _ of this.matching(filters)) count++;
    return count;
  }

  async replace(record: Versioned<Fields>, expected: number): Promise<boolean> {
    if (this.records.get(record.id)?.version !== expected) return false;
    this.put(record);
    return true;
  }

  async remove(id: Id, expected: number): Promise<boolean> {
    const record = this.records.get(id);
    if (record?.version !== expected) return false;
    this.forgetUnique(record);
    this.records.delete(id);
    this.tombstones.add(id);
    return true;
  }

  /** Every record that all filters hold for, as it is in the moment when it is looked at. */
  private async *matching(filters: readonly Filter[]): AsyncGenerator<Versioned<Fields>> {
    const deadline = this.budget.start();
    const all = [...this.records.keys()];
    for (let at = 0; at < all.length; at++) {
      if (at > 0 && at % CHUNK === 0) {
        deadline.check();
        await nextTurn();
      }
      const record = this.records.get(all[at] ?? 0);
      if (record && filters.every((filter) => matches(this.table, record, filter))) yield record;
    }
  }

  /** @throws CatalogueError `duplicate_value`, with nothing changed */
  private put(record: Versioned<Fields>): void {
    for (const [field, owners] of this.unique) {
      const owner = owners.get(identityOf(this.table, record, field));
      if (owner !== undefined && owner !== record.id) throw duplicateValue(field);
    }
    const old = this.records.get(record.id);
    if (old) this.forgetUnique(old);
    for (const [field, owners] of this.unique) {
      const value = identityOf(this.table, record, field);
      if (value !== undefined) owners.set(value, record.id);
    }
    this.records.set(record.id, structuredClone(record));
  }

  private forgetUnique(record: Versioned<Fields>): void {
    for (const [field, owners] of this.unique) owners.delete(identityOf(this.table, record, field));
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
