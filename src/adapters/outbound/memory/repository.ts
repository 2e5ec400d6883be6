import {
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type RecordTable,
  type Value,
} from '../../../application/list-query.js';
import type { InsertOutcome, Repository } from '../../../application/ports/repository.js';
import type { QueryBudget } from '../../../application/query-budget.js';
import { compareInOrder, valuesOf } from '../../../application/record-order.js';
import { CatalogueError, duplicateValue } from '../../../domain/errors.js';
import { uniqueFields } from '../../../domain/fields.js';
import type { Id, Instant, Versioned } from '../../../domain/record.js';
import { TopN } from './first-few.js';
import { matchesFilter, uniqueValueOf } from './matching.js';
import { SortedIds } from './sorted-ids.js';
import { MemoryTombstones } from './tombstones.js';

/** So many records are looked at before others have their turn. */
const CHUNK = 1_000;

interface Placed<Fields> {
  readonly record: Versioned<Fields>;
  /** Of the keys of the order. */
  readonly values: readonly Value[];
}

/** Forgets everything when the process ends. */
export class MemoryRepository<Fields> implements Repository<Fields> {
  private readonly records = new Map<Id, Versioned<Fields>>();
  private readonly ids = new SortedIds();
  private readonly unique: ReadonlyMap<string, Map<unknown, Id>>;
  private nextId: Id;

  constructor(
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
    private readonly tombstones = new MemoryTombstones(),
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
    const outcome = this.inserted(record);
    if (outcome instanceof CatalogueError) throw outcome;
    return outcome === 'inserted';
  }

  async insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]> {
    return records.map((record) => this.inserted(record));
  }

  async find(id: Id): Promise<Versioned<Fields> | undefined> {
    return structuredClone(this.records.get(id));
  }

  async findExistingIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    return new Set(ids.filter((id) => this.records.has(id)));
  }

  async findUsedIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    return new Set(ids.filter((id) => this.isTaken(id)));
  }

  async findByUnique(field: keyof Fields & string, value: string): Promise<Versioned<Fields> | undefined> {
    return structuredClone(this.records.get(this.unique.get(field)?.get(value) ?? 0));
  }

  async list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const { limit, bytes = MAX_PAGE_BYTES, filters, order, from } = query;
    const backwards = from?.side === 'before';
    const direction = backwards ? -1 : 1;
    const found = new TopN<Placed<Fields>>(
      limit + 1,
      (a, b) => compareInOrder(order, a.values, b.values) * direction,
    );
    const isById = order[0]?.field === 'id';
    for await (const record of this.matching(filters, query, this.idsFrom(query))) {
      const values = valuesOf(record, order);
      const distance = from ? compareInOrder(order, values, from.values) * direction : 1;
      if (distance > 0 || (distance === 0 && from?.inclusive)) found.add({ record, values });
      if (isById && found.inOrder().length > limit) break;
    }
    const inOrder = found.inOrder();
    const page = pageOf(inOrder, limit, bytes);
    const records = page.map(({ record }) => structuredClone(record));
    return { records: backwards ? records.reverse() : records, hasMore: page.length < inOrder.length };
  }

  async count(filters: readonly Filter[], client?: string): Promise<number> {
    let count = 0;
    for await (const _ of this.matching(filters, { client })) count++;
    return count;
  }

  async replace(record: Versioned<Fields>, expected: number): Promise<boolean> {
    if (this.records.get(record.id)?.version !== expected) return false;
    this.put(record);
    return true;
  }

  async remove(id: Id, expected: number, at: Instant): Promise<boolean> {
    const record = this.records.get(id);
    if (record?.version !== expected) return false;
    this.forgetUnique(record);
    this.records.delete(id);
    this.ids.remove(id);
    this.tombstones.add(id, at);
    return true;
  }

  private isTaken(id: Id): boolean {
    return this.records.has(id) || this.tombstones.has(id);
  }

  private inserted(record: Versioned<Fields>): InsertOutcome {
    if (this.isTaken(record.id)) return 'id_conflict';
    try {
      this.put(record);
      return 'inserted';
    } catch (error) {
      if (error instanceof CatalogueError) return error;
      throw error;
    }
  }

  /** Where the list is in order of id, those from its place on, as they are read; otherwise all. */
  private idsFrom({ order, from }: ListQuery): Id[] {
    const [key] = order;
    if (key?.field !== 'id') return this.ids.upwards();
    const first = from && Number(from.values[0]);
    return key.descending === (from?.side === 'before') ? this.ids.upwards(first) : this.ids.downwards(first);
  }

  /**
   * Every record that all filters hold for, as it is in the moment when it is looked at. A record that is kept never
   * changes, another takes its place: so it may be shown as it was found, whatever is written meanwhile.
   */
  private async *matching(
    filters: readonly Filter[],
    { client, isSequel }: Pick<ListQuery, 'client' | 'isSequel'>,
    ids = this.ids.upwards(),
  ): AsyncGenerator<Versioned<Fields>> {
    const time = this.budget.start(client, isSequel);
    for (let at = 0; at < ids.length; at++) {
      if (at > 0 && at % CHUNK === 0) {
        await time.turn();
      }
      const record = this.records.get(ids[at] ?? 0);
      if (record && filters.every((filter) => matchesFilter(this.table, record, filter))) yield record;
    }
  }

  /** @throws CatalogueError `duplicate_value`, with nothing changed */
  private put(record: Versioned<Fields>): void {
    for (const [field, owners] of this.unique) {
      const owner = owners.get(uniqueValueOf(this.table, record, field));
      if (owner !== undefined && owner !== record.id) throw duplicateValue(field);
    }
    const old = this.records.get(record.id);
    if (old) this.forgetUnique(old);
    else this.ids.add(record.id);
    for (const [field, owners] of this.unique) {
      const value = uniqueValueOf(this.table, record, field);
      if (value !== undefined) owners.set(value, record.id);
    }
    this.records.set(record.id, structuredClone(record));
  }

  private forgetUnique(record: Versioned<Fields>): void {
    for (const [field, owners] of this.unique) owners.delete(uniqueValueOf(this.table, record, field));
  }
}

/** The first of them, as many as the limit or the bytes allow. */
function pageOf<Fields>(found: readonly Placed<Fields>[], limit: number, maxBytes: number): Placed<Fields>[] {
  const page: Placed<Fields>[] = [];
  let bytes = 0;
  for (const one of found.slice(0, limit)) {
    if (bytes >= maxBytes) break;
    page.push(one);
    bytes += Buffer.byteLength(JSON.stringify(one.record));
  }
  return page;
}
