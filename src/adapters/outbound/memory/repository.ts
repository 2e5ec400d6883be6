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
  RecordVersion,
  Removal,
  Replacement,
  ReplaceOutcome,
  Repository,
} from '../../../application/ports/repository.js';
import { hasOnlyIdFilters, idRange, isAscendingRead } from '../../../application/records/block-scan.js';
import { FacetCounter } from '../../../application/records/facets.js';
import { partitionPoint, type QueryBudget, TopN, takePage } from '../../../application/records/lists.js';
import {
  compareInOrder,
  fieldValue,
  foldedValue,
  matchesFilter,
  uniqueValueOf,
  valuesOf,
} from '../../../application/records/query-semantics.js';
import { StoredRecord } from '../../../application/records/record-json.js';
import { searchedLength } from '../../../application/search/tokenizer.js';
import { type DuplicateValue, duplicateValue } from '../../../domain/errors.js';
import { uniqueFields } from '../../../domain/fields.js';
import type { Id, Instant, Versioned } from '../../../domain/record.js';
import type { Task } from '../../../shared/task-scheduler.js';
import { MemoryChangeFeed, MemoryFeedState } from './change-feed.js';
import { ExpiringMap } from './expiring.js';

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
  private nextId: Id;
  /** By the ids of the deleted records. */
  readonly tombstones = new ExpiringMap<Id, Tombstone>(
    TOMBSTONE_MS,
    ({ at }) => at,
    (id) => this.changes.purged(id),
  );
  readonly changes: MemoryChangeFeed<Fields>;

  constructor(
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
    feedState = new MemoryFeedState(),
  ) {
    this.changes = new MemoryChangeFeed(feedState, (id) => this.records.get(id) ?? this.deletionOf(id));
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

  async insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]> {
    return records.map((record) => this.inserted(record));
  }

  async find(id: Id): Promise<Versioned<Fields> | undefined> {
    return this.records.get(id);
  }

  async confirmAll(versions: readonly RecordVersion[]): Promise<readonly boolean[]> {
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

  async findAllByUnique(field: string, values: readonly Value[]): Promise<readonly (Versioned<Fields> | undefined)[]> {
    return values.map((value) => this.ownerOf(field, value));
  }

  async list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const { limit, bytes = MAX_PAGE_BYTES, order, from } = query;
    const direction = from?.side === 'before' ? -1 : 1;
    const isById = order[0]?.field === 'id';
    const first = new TopN<Sortable<Fields>>(
      limit + 1,
      (a, b) => compareInOrder(order, a.values, b.values) * direction,
    );
    let count = 0;
    for await (const record of this.matching(query)) {
      const values = valuesOf(record, order);
      const distance = from?.values.length ? compareInOrder(order, values, from.values) * direction : 1;
      if (distance < 0 || (distance === 0 && !from?.inclusive)) continue;
      first.add({ record, values });
      if (isById && ++count > limit) break;
    }
    const found = first.inOrder().map(({ record }) => record);
    const page = takePage(found, limit, bytes);
    const hasMore = page.length < found.length;
    return { records: from?.side === 'before' ? page.reverse() : page, hasMore };
  }

  async count(filters: readonly Filter[], task?: Task, distinct?: string): Promise<number> {
    if (filters.length === 0 && distinct === undefined) return this.ids.length;
    const seen = new Set<Value>();
    let count = 0;
    for await (const record of this.matching({ filters, order: BY_ID, task })) {
      const shared = distinct === undefined ? undefined : fieldValue(record, distinct);
      if (shared === undefined) count++;
      else seen.add(shared);
    }
    return count + seen.size;
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
    const id = field === 'id' ? value : this.unique.get(field)?.get(foldedValue(this.table, field, value));
    return this.records.get(Number(id));
  }

  private isUsed(id: Id): boolean {
    return this.records.has(id) || this.tombstones.has(id);
  }

  private inserted(record: Versioned<Fields>): InsertOutcome {
    if (this.isUsed(record.id)) return 'id_conflict';
    return this.put(record) ?? 'inserted';
  }

  /** The ids that the filters on the id and the position of a list by id leave, in the order of reading. */
  private idsFor(criteria: Criteria): Id[] {
    const { low, high } = idRange(criteria);
    const ids = this.ids.slice(indexOfId(this.ids, low), indexOfId(this.ids, high + 1));
    return isAscendingRead(criteria) ? ids : ids.reverse();
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
    for (const id of this.idsFor(query)) {
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
    this.records.set(record.id, frozen(StoredRecord.of(record)));
    this.changes.changed(record.id);
    return undefined;
  }

  private forgetValues(record: Versioned<Fields>): void {
    for (const [field, owners] of this.unique) owners.delete(uniqueValueOf(this.table, record, field));
  }
}

/** @returns the index of the first id that is not smaller */
function indexOfId(ids: readonly Id[], id: Id): number {
  return partitionPoint(ids, (other) => other < id);
}

/** Freezes a value with everything in it, so that nobody changes what all readers share. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
