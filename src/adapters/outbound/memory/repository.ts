import type { QueryBudget } from '../../../application/maintenance/query-budget.js';
import { TOMBSTONE_MS } from '../../../application/maintenance/retention.js';
import type { Deletion } from '../../../application/ports/change-feed.js';
import {
  BY_ID,
  type Facet,
  type FacetQuery,
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type Position,
  type RecordTable,
  type Value,
} from '../../../application/ports/list-query.js';
import type {
  InsertOutcome,
  Removal,
  Replacement,
  ReplaceOutcome,
  Repository,
} from '../../../application/ports/repository.js';
import type { Store } from '../../../application/ports/store.js';
import { FacetCounter } from '../../../application/records/facets.js';
import { takePage } from '../../../application/records/lists.js';
import {
  comparedUniqueValue,
  compareInOrder,
  listValues,
  matchesFilter,
  uniqueValueOf,
  valuesOf,
} from '../../../application/records/query-semantics.js';
import { StoredRecord } from '../../../application/records/record-json.js';
import { partitionPoint, TopN } from '../../../application/records/sorted.js';
import { hasOnlyIdFilters, isAscendingRead } from '../../../application/search/id-range.js';
import { searchedLength } from '../../../application/search/tokenizer.js';
import { type DuplicateValue, duplicateValue } from '../../../domain/errors.js';
import { listFields, uniqueFields } from '../../../domain/fields.js';
import type { Id, Instant, Versioned } from '../../../domain/record.js';
import type { Task } from '../../../shared/task-scheduler.js';
import { MemoryChangeFeed, MemoryFeedState } from './change-feed.js';
import { ExpiringMap } from './expiring-map.js';

/** Records per time slice. After each slice other requests have their turn. */
const SLICE = 1_000;
/** Looking for words in so many characters of a record takes as long as comparing a record otherwise. */
const CHARACTERS = 32;

/** What remains of a deleted record. */
interface Tombstone {
  readonly at: Instant;
  /** That of the deletion. */
  readonly version: number;
}

/** The tombstones by the ids of the deleted records. */
export class MemoryTombstones extends ExpiringMap<Id, Tombstone> {
  constructor(purged?: (id: Id) => void) {
    super(TOMBSTONE_MS, ({ at }) => at, purged);
  }
}

interface Sortable<Fields> {
  readonly record: StoredRecord<Fields>;
  /** One value for each key of the order. */
  readonly values: Position['values'];
}

/** What decides which records are read, and in which order. */
type Criteria = Pick<ListQuery, 'filters' | 'order' | 'from' | 'task'>;

/** A repository in this process. It forgets everything when the process ends. */
export class MemoryRepository<Fields> implements Repository<Fields> {
  private readonly records = new Map<Id, StoredRecord<Fields>>();
  /** The ids of the records, ascending. */
  private readonly ids: Id[] = [];
  /** For each unique field, the id of the record that has a value. */
  private readonly unique: ReadonlyMap<string, Map<unknown, Id>>;
  /** For each list by which can be filtered, the ids of the records that have a value, ascending. */
  private readonly lists: ReadonlyMap<string, Map<Value, Id[]>>;
  private nextId: Id;
  readonly tombstones = new MemoryTombstones((id) => this.changes.purged(id));
  readonly changes: MemoryChangeFeed<Fields>;

  constructor(
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
    feedState = new MemoryFeedState(),
  ) {
    this.changes = new MemoryChangeFeed(feedState, (id) => this.records.get(id) ?? this.deletionOf(id));
    this.nextId = table.firstId;
    this.lists = new Map(listFields(table.fields).map((field) => [field, new Map()]));
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

  async insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]> {
    return records.map((record) => this.inserted(record));
  }

  async find(id: Id): Promise<Versioned<Fields> | undefined> {
    return this.records.get(id);
  }

  async confirmAll(
    versions: readonly Pick<Versioned<unknown>, 'id' | 'version'>[],
  ): Promise<readonly boolean[]> {
    return versions.map(({ id, version }) => this.hasVersion(id, version));
  }

  async findExistingIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    return new Set(ids.filter((id) => this.records.has(id)));
  }

  async findUsedIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    return new Set(ids.filter((id) => this.isUsed(id)));
  }

  async findByUnique(field: string, value: Value): Promise<Versioned<Fields> | undefined> {
    return this.ownerOf(field, value);
  }

  async findAllByUnique(
    field: string,
    values: readonly Value[],
  ): Promise<readonly (Versioned<Fields> | undefined)[]> {
    return values.map((value) => this.ownerOf(field, value));
  }

  async list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const { limit, bytes = MAX_PAGE_BYTES, filters, order, from } = query;
    const isSlice = filters.length === 0 && order[0]?.field === 'id';
    const found = isSlice ? this.existing(this.idsFrom(query, limit + 1)) : await this.search(query);
    const page = takePage(found, limit, bytes);
    const hasMore = page.length < found.length;
    return { records: from?.side === 'before' ? page.reverse() : page, hasMore };
  }

  /** The records of a page and one more, in the order of reading. */
  private async search(query: ListQuery): Promise<readonly StoredRecord<Fields>[]> {
    const { limit, order, from } = query;
    const direction = from?.side === 'before' ? -1 : 1;
    const found = new TopN<Sortable<Fields>>(
      limit + 1,
      (a, b) => compareInOrder(order, a.values, b.values) * direction,
    );
    const isById = order[0]?.field === 'id';
    for await (const record of this.matching(query)) {
      const values = valuesOf(record, order);
      const distance = from?.values.length ? compareInOrder(order, values, from.values) * direction : 1;
      if (distance > 0 || (distance === 0 && from?.inclusive)) found.add({ record, values });
      if (isById && found.inOrder().length > limit) break;
    }
    return found.inOrder().map(({ record }) => record);
  }

  async count(filters: readonly Filter[], task?: Task): Promise<number> {
    if (filters.length === 0) return this.ids.length;
    let count = 0;
    for await (const _ of this.matching({ filters, order: BY_ID, task })) count++;
    return count;
  }

  async facets(query: FacetQuery): Promise<readonly Facet[]> {
    const counter = new FacetCounter(query);
    for await (const { fields } of this.matching({ ...query, order: BY_ID })) counter.add(fields as object);
    return counter.facets();
  }

  async replaceAll(replacements: readonly Replacement<Fields>[]): Promise<readonly ReplaceOutcome[]> {
    return replacements.map((replacement) => this.replaced(replacement));
  }

  async removeAll(removals: readonly Removal[]): Promise<readonly boolean[]> {
    return removals.map((removal) => this.isRemoved(removal));
  }

  private replaced({ record, expected }: Replacement<Fields>): ReplaceOutcome {
    if (!this.hasVersion(record.id, expected)) return 'version_conflict';
    return this.put(record) ?? 'replaced';
  }

  private isRemoved({ id, expected, at }: Removal): boolean {
    const record = this.records.get(id);
    if (record?.version !== expected) return false;
    this.forgetValues(record);
    this.records.delete(id);
    this.ids.splice(indexOfId(this.ids, id), 1);
    this.tombstones.add(id, { at, version: record.version + 1 });
    this.changes.changed(id);
    return true;
  }

  private deletionOf(id: Id): Deletion | undefined {
    const tombstone = this.tombstones.get(id);
    return tombstone && { id, version: tombstone.version, deleted: true };
  }

  private hasVersion(id: Id, version: number): boolean {
    return this.records.get(id)?.version === version;
  }

  private ownerOf(field: string, value: Value): StoredRecord<Fields> | undefined {
    const id =
      field === 'id' ? value : this.unique.get(field)?.get(comparedUniqueValue(this.table, field, value));
    return this.records.get(Number(id));
  }

  private isUsed(id: Id): boolean {
    return this.records.has(id) || this.tombstones.has(id);
  }

  private inserted(record: Versioned<Fields>): InsertOutcome {
    if (this.isUsed(record.id)) return 'id_conflict';
    return this.put(record) ?? 'inserted';
  }

  /** The ids to read: all; or, in order of id, `count` from the position of the list on, in the order of reading. */
  private idsFrom(criteria: Criteria, count = this.ids.length): Id[] {
    const { filters, order, from } = criteria;
    const ids = this.candidates(filters);
    if (order[0]?.field !== 'id') return [...ids];
    const isAscending = isAscendingRead(criteria);
    const edge = from?.values.length
      ? indexOfId(ids, Number(from.values[0]) + (from.inclusive === isAscending ? 0 : 1))
      : undefined;
    const [start, end] = [edge ?? 0, edge ?? ids.length];
    if (isAscending) return ids.slice(start, start + count);
    return ids.slice(Math.max(0, end - count), end).reverse();
  }

  /** The ids of all records that filters can match, ascending: those of the filter of a list that leaves the fewest. */
  private candidates(filters: readonly Filter[]): readonly Id[] {
    return filters.reduce<readonly Id[]>((fewest, filter) => {
      const ids = this.idsWithValue(filter);
      return ids && ids.length < fewest.length ? ids : fewest;
    }, this.ids);
  }

  /** @returns undefined if the filter compares no list */
  private idsWithValue(filter: Filter): readonly Id[] | undefined {
    const byValue = this.lists.get(filter.field);
    if (!byValue) return undefined;
    if (filter.operator === 'eq') return byValue.get(filter.value) ?? [];
    if (filter.operator === 'in') return union(filter.values.map((value) => byValue.get(value) ?? []));
    if (filter.operator !== 'prefix') return undefined;
    const prefix = String(filter.value);
    return union([...byValue].filter(([value]) => String(value).startsWith(prefix)).map(([, ids]) => ids));
  }

  private existing(ids: readonly Id[]): StoredRecord<Fields>[] {
    const found: StoredRecord<Fields>[] = [];
    for (const id of ids) {
      const record = this.records.get(id);
      if (record) found.push(record);
    }
    return found;
  }

  /**
   * The records that match all filters, each as it is when it is read. A write replaces a stored record and never
   * changes it, so the caller sees each record as it was found, even if it is written meanwhile.
   */
  private async *matching(query: Criteria): AsyncGenerator<StoredRecord<Fields>> {
    const { filters, order, task } = query;
    const searches = filters.filter(({ operator }) => operator === 'search');
    const others = filters.filter(({ operator }) => operator !== 'search');
    const isServed = searches.length > 0 && order[0]?.field === 'id' && hasOnlyIdFilters(filters);
    const time = isServed ? this.budget.startUnlimited(task) : this.budget.start(task);
    let left = SLICE;
    for (const id of this.idsFrom(query)) {
      if (left <= 0) {
        await time.checkpoint();
        left = SLICE;
      }
      left--;
      const record = this.records.get(id);
      if (!record || !others.every((filter) => matchesFilter(this.table, record, filter))) continue;
      if (searches.length > 0) left -= searchedLength(this.table, record.fields as object) / CHARACTERS;
      if (searches.every((filter) => matchesFilter(this.table, record, filter))) yield record;
    }
  }

  /** @returns why nothing is changed: another record has the value of a unique field */
  private put(record: Versioned<Fields>): DuplicateValue | undefined {
    for (const [field, owners] of this.unique) {
      const owner = owners.get(uniqueValueOf(this.table, record, field));
      if (owner !== undefined && owner !== record.id) return duplicateValue(field);
    }
    const old = this.records.get(record.id);
    if (old) this.forgetValues(old);
    else this.ids.splice(indexOfId(this.ids, record.id), 0, record.id);
    for (const [field, owners] of this.unique) {
      const value = uniqueValueOf(this.table, record, field);
      if (value !== undefined) owners.set(value, record.id);
    }
    for (const [field, byValue] of this.lists)
      for (const value of listValues(record.fields as object, field)) {
        const ids = byValue.get(value);
        if (ids) ids.splice(indexOfId(ids, record.id), 0, record.id);
        else byValue.set(value, [record.id]);
      }
    this.records.set(record.id, frozen(StoredRecord.of(record)));
    this.changes.changed(record.id);
    return undefined;
  }

  private forgetValues(record: Versioned<Fields>): void {
    for (const [field, owners] of this.unique) owners.delete(uniqueValueOf(this.table, record, field));
    for (const [field, byValue] of this.lists)
      for (const value of listValues(record.fields as object, field)) {
        const ids = byValue.get(value) ?? [];
        if (ids.length > 1) ids.splice(indexOfId(ids, record.id), 1);
        else byValue.delete(value);
      }
  }
}

/** @returns the index of the first id that is not smaller */
function indexOfId(ids: readonly Id[], id: Id): number {
  return partitionPoint(ids, (other) => other < id);
}

function union(all: readonly (readonly Id[])[]): Id[] {
  return [...new Set(all.flat())].sort((a, b) => a - b);
}

/** Freezes a value with everything in it, so that nobody changes what all readers share. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}

/** The store under the memory repositories. There is nothing to open and nothing to close. */
export class MemoryStore implements Store {
  readonly location = 'the memory of this process (forgotten when it ends)';

  async open(): Promise<void> {}

  async ping(): Promise<void> {}

  async close(): Promise<void> {}
}
