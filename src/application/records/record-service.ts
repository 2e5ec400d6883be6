import { AppError, notFound } from '../../domain/errors.js';
import type { Id, Versioned } from '../../domain/record.js';
import type { QuotaShare } from '../../shared/byte-quota.js';
import type { Task } from '../../shared/task-scheduler.js';
import type { Facet, FacetQuery, Filter, ListPage, ListQuery, Value } from '../ports/list-query.js';
import type { Repository } from '../ports/repository.js';
import { DistinctLists, type DistinctQuery } from './distinct-lists.js';
import { DryRunRepository } from './dry-run-repository.js';
import { facetsOf } from './facets.js';
import type { IdPool } from './id-allocator.js';
import { OrderedLists, paginate, type QueryBudget } from './lists.js';
import {
  type Change,
  changedDraft,
  type Draft,
  newDraft,
  type RecordFormat,
  type SentBeside,
  sentDraft,
} from './record-format.js';
import {
  type Finding,
  type RecordWrite,
  RecordWriter,
  type VersionNeed,
  type WriterDependencies,
} from './record-writer.js';
import { type IdempotentRequest, keyReused, type Precondition, STREAM } from './write-conditions.js';

/** How a request names a record: by its id, or by the value of a unique field. */
export type RecordAddress = Id | UniqueKey;

export interface UniqueKey {
  readonly field: string;
  readonly value: Value;
}

/** A record to create, and the idempotency of its request. */
export interface Creation<Fields> {
  readonly draft: Draft<Fields>;
  /** Absent if each request creates its own record. */
  readonly idempotency?: IdempotentRequest | undefined;
}

export interface Created<Fields> {
  /** With the fields that it was created with. The times of a replay are those of the reservation. */
  readonly record: Versioned<Fields>;
  /** Whether another attempt, or another request, created the record. */
  readonly isReplay: boolean;
}

export interface RecordServiceDependencies<Fields> extends WriterDependencies<Fields> {
  readonly records: Repository<Fields>;
  /** The version of the API whose clients are served. */
  readonly view: RecordFormat<Fields>;
  /** The time of a query that takes several of the store. */
  readonly budget: QueryBudget;
}

/** A request for a page of all records that match, or of one for each value of a field. */
export type PageQuery = ListQuery & Partial<DistinctQuery>;

/** The use cases of the records of any resource. Its dependencies hold what differs, as values and functions. */
export class RecordService<Fields> {
  private readonly lists: OrderedLists<Fields>;
  private readonly distinct: DistinctLists<Fields>;

  constructor(private readonly deps: RecordServiceDependencies<Fields>) {
    const { records, fields, budget } = deps;
    this.lists = new OrderedLists(records, fields);
    this.distinct = new DistinctLists(this.lists, records, budget);
  }

  list(query: PageQuery): Promise<ListPage<Versioned<Fields>>> {
    const { distinct } = query;
    return distinct === undefined ? this.lists.list(query) : this.distinct.list({ ...query, distinct });
  }

  /**
   * Returns the number of records that match the filters.
   * @param distinct a field: records that share a value in it count once
   */
  count(filters: readonly Filter[], task?: Task, distinct?: string): Promise<number> {
    return this.deps.records.count(filters, task, distinct);
  }

  /**
   * Counts the records that match the filters by their values. The filters of a field by its value do not narrow its own
   * facet.
   * @returns a facet for each field, in order
   */
  facets(query: FacetQuery): Promise<readonly Facet[]> {
    return facetsOf(this.deps.records, query);
  }

  /** Yields the whole list from the query's position on, page by page. A page may be empty. */
  pages(query: PageQuery): AsyncGenerator<readonly Versioned<Fields>[], void, void> {
    const { distinct } = query;
    return distinct === undefined ? paginate(this.lists, query) : this.distinct.parts({ ...query, distinct });
  }

  /** @throws AppError `not_found` */
  async read(address: RecordAddress): Promise<Versioned<Fields>> {
    const { records } = this.deps;
    const record =
      typeof address === 'number'
        ? await records.find(address)
        : await records.findByUnique(address.field, address.value);
    if (!record) throw notFound();
    return record;
  }

  /** Returns the draft of a new record for {@link create}, with every issue of the body except missing references. */
  draft(body: unknown): Draft<Fields> {
    return newDraft(this.deps.view, body);
  }

  /**
   * Returns what writes records that are found so. Without `by` it creates them.
   * @param ids of new records; absent: those of the process
   */
  writer(by?: Finding, ids?: IdPool): RecordWriter<Fields> {
    return new RecordWriter(ids ? { ...this.deps, ids } : this.deps, by);
  }

  /**
   * As {@link writer}, but the writes change nothing in the store. They see the earlier ones.
   * @param memory for what it keeps; its opener releases it
   */
  dryRun(memory: QuotaShare, by?: Finding): RecordWriter<Fields> {
    const { deps } = this;
    const records = new DryRunRepository(deps.records, deps.fields, memory);
    return new RecordWriter({ ...deps, records, ids: records }, by);
  }

  /** @throws AppError `validation_failed`, `duplicate_value`, `idempotency_key_reused`, `unavailable` */
  async create({ draft, idempotency }: Creation<Fields>): Promise<Created<Fields>> {
    const { kind, record } = await this.writeOne({ draft: () => draft, idempotency });
    return { record, isReplay: kind === 'replayed' };
  }

  /**
   * Creates the record that has a unique value, or replaces it. Of several such requests at once, one creates it.
   * @param key its field is a unique one
   * @throws AppError `not_found`, `precondition_failed`, `precondition_required`, `validation_failed`,
   * `duplicate_value`, `unavailable`
   */
  async put(
    { field, value }: UniqueKey,
    write: Pick<RecordWrite<Fields>, 'precondition' | 'mustExist'> & { readonly sent: SentBeside },
    versionNeeded?: VersionNeed,
  ): Promise<{ readonly record: Versioned<Fields>; readonly isNew: boolean }> {
    const draft = sentDraft(this.deps.view, 'replace', write.sent);
    const { kind, record } = await this.writeOne({ ...write, key: value, draft }, { field, versionNeeded });
    return { record, isNew: kind === 'created' };
  }

  /**
   * Reserves an idempotency key for a stream, whose lines have their own keys. The same stream may reserve it again.
   * @throws AppError `idempotency_key_reused`
   */
  async reserveStream(key: string): Promise<void> {
    const { reservations, clock } = this.deps;
    const existing = await reservations.reserve([{ key, reservedAt: clock.now(), ...STREAM }]);
    if (existing.get(key)?.fingerprint !== STREAM.fingerprint) throw keyReused();
  }

  /**
   * Applies a change to the newest version of a record. Tries again if another write was faster. A change without
   * effect writes nothing, but the store confirms that the version is still the newest.
   * @throws AppError `not_found`, `precondition_failed`, `invalid_patch`, `patch_test_failed`, `validation_failed`,
   * `duplicate_value`, `unavailable`
   * @param complete runs at each try
   */
  async update(
    address: RecordAddress,
    precondition: Precondition,
    change: Change,
    complete?: RecordWrite<Fields>['complete'],
  ): Promise<Versioned<Fields>> {
    const draft = (current?: Versioned<Fields>) => changedDraft(this.deps.view, change, current as Versioned<Fields>);
    const { field, value: key } = uniqueKey(address);
    const write = { key, mustExist: true, precondition, draft, ...(complete && { complete }) };
    return (await this.writeOne(write, { field })).record;
  }

  /** @throws AppError `not_found`, `precondition_failed`, `unavailable` */
  async remove(address: RecordAddress, precondition: Precondition): Promise<void> {
    const { field, value: key } = uniqueKey(address);
    const draft = () => undefined;
    await this.writeOne({ key, mustExist: true, precondition, isDeletion: true, draft }, { field });
  }

  private async writeOne(write: RecordWrite<Fields>, by?: Finding) {
    const [started] = await this.writer(by).startAll([write]);
    const outcome = await started;
    if (outcome instanceof AppError) throw outcome;
    if (!outcome || outcome.kind === 'absent') throw notFound();
    return outcome;
  }
}

function uniqueKey(address: RecordAddress): UniqueKey {
  return typeof address === 'number' ? { field: 'id', value: address } : address;
}
