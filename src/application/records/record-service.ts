import { isDeepStrictEqual } from 'node:util';
import { AppError, notFound, PreconditionFailed } from '../../domain/errors.js';
import type { Id, Versioned } from '../../domain/record.js';
import type { QuotaShare } from '../../shared/byte-quota.js';
import type { Turn } from '../../shared/turn.js';
import type { IdempotencyStore } from '../ports/idempotency-store.js';
import type { Facet, FacetQuery, Filter, ListPage, ListQuery, Value } from '../ports/list-query.js';
import type { Repository } from '../ports/repository.js';
import {
  type Created,
  type Creation,
  type CreationDependencies,
  type CreationOutcome,
  RecordCreator,
} from './create-records.js';
import { withOwner } from './duplicate-owners.js';
import { facetsOf } from './facets.js';
import { keyReused, STREAM } from './idempotency.js';
import { OrderedLists } from './ordered-lists.js';
import { paginate } from './paginate.js';
import { type Change, changedDraft, type Draft, newDraft } from './record-format.js';
import {
  type KeyedWrite,
  type MatchDependencies,
  type MatchPolicy,
  RecordMatcher,
  type VersionNeed,
} from './record-matcher.js';
import { draftValidator, validateAll } from './record-validator.js';
import { RehearsedRecords } from './rehearsed-records.js';
import {
  isMet,
  MAX_ATTEMPTS,
  nextVersion,
  type Precondition,
  timeOfDeletion,
  tooManyRaces,
} from './versions.js';

/** How a request names a record: by its id, or by the value of a unique field. */
export type RecordAddress = Id | UniqueKey;

export interface UniqueKey {
  readonly field: string;
  readonly value: Value;
}

export interface RecordServiceDependencies<Fields> extends MatchDependencies<Fields> {
  readonly records: Repository<Fields>;
  readonly reservations: IdempotencyStore;
}

/** What an import needs: a record a line. */
export type RecordWriter<Fields> = Pick<RecordService<Fields>, 'draft' | 'createAll' | 'matcher'>;

/** The use cases of the records of any resource. Its dependencies hold what differs, as values and functions. */
export class RecordService<Fields> {
  private readonly creator: RecordCreator<Fields>;
  private readonly lists: OrderedLists<Fields>;

  constructor(private readonly deps: RecordServiceDependencies<Fields>) {
    this.creator = creatorWith(deps);
    this.lists = new OrderedLists(deps.records, deps.fields);
  }

  list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    return this.lists.list(query);
  }

  /** Returns the number of records that match the filters. */
  count(filters: readonly Filter[], turn?: Turn): Promise<number> {
    return this.deps.records.count(filters, turn);
  }

  /**
   * Counts the records that match the filters by their values. The filters of a field by its value do not narrow its own
   * facet.
   * @returns a facet for each field, in order
   */
  facets(query: FacetQuery): Promise<readonly Facet[]> {
    return facetsOf(this.deps.records, query);
  }

  /** Yields the whole list from the query's position on, page by page. */
  pages(query: ListQuery): AsyncGenerator<readonly Versioned<Fields>[], void, void> {
    return paginate(this.lists, query);
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

  /** @throws AppError `validation_failed`, `duplicate_value`, `idempotency_key_reused` */
  async create(creation: Creation<Fields>): Promise<Created<Fields>> {
    const [outcome] = await this.createAll([creation]);
    if (outcome instanceof AppError) throw outcome;
    if (!outcome) throw new Error('A creation has no outcome.');
    return outcome;
  }

  /**
   * Creates several records. A refused one does not stop the others.
   * @throws AppError `unavailable`: some of them may have been created
   */
  createAll(creations: readonly Creation<Fields>[]): Promise<readonly CreationOutcome<Fields>[]> {
    return this.creator.createAll(creations);
  }

  /** Returns what creates, changes and deletes records that are found by their id, or by another unique field. */
  matcher(policy: MatchPolicy): RecordMatcher<Fields> {
    return new RecordMatcher(this.deps, policy);
  }

  /**
   * Creates the record that has a unique value, or replaces it. Of several such requests at once, one creates it.
   * @param key its field is a unique one
   * @throws AppError `not_found`, `precondition_failed`, `precondition_required`, `validation_failed`,
   * `duplicate_value`, `unavailable`
   */
  async put(
    { field, value }: UniqueKey,
    write: Pick<KeyedWrite, 'precondition' | 'mustExist' | 'sent'>,
    versionNeeded?: VersionNeed,
  ): Promise<{ readonly record: Versioned<Fields>; readonly isNew: boolean }> {
    const matcher = this.matcher({ field, existing: 'replace', versionNeeded });
    const writes = [{ ...write, key: value, isDeletion: false, bytes: 0 }];
    const [outcome] = await matcher.writeAll(writes);
    if (outcome instanceof AppError) throw outcome;
    if (!outcome || !('record' in outcome)) throw new Error('A write has no outcome.');
    return { record: outcome.record, isNew: outcome.kind === 'created' };
  }

  /**
   * Returns a writer whose writes see the earlier ones, and change nothing in the store.
   * @param memory for what it keeps; its opener releases it
   */
  rehearsal(memory: QuotaShare): RecordWriter<Fields> {
    const { deps } = this;
    const records = new RehearsedRecords(deps.records, deps.fields, memory);
    const creator = creatorWith({ ...deps, records, ids: records });
    return {
      draft: (body) => this.draft(body),
      createAll: (creations) => creator.createAll(creations),
      matcher: (policy) => new RecordMatcher({ ...deps, records, ids: records }, policy),
    };
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
   * @param complete returns the valid fields with what only the service sets; it may refuse them, and runs at each try
   */
  update(
    address: RecordAddress,
    precondition: Precondition,
    change: Change,
    complete?: (fields: Fields, current: Versioned<Fields>) => Promise<Fields>,
  ): Promise<Versioned<Fields>> {
    const { records, clock, view, rules } = this.deps;
    return this.withOptimisticRetry(address, precondition, async (current) => {
      const draft = changedDraft(view, change, current);
      const [valid] = await validateAll(rules, [{ draft, previous: current }]);
      if (valid instanceof AppError) throw valid;
      const fields = complete ? await complete(valid as Fields, current) : valid;
      if (isDeepStrictEqual(fields, current.fields))
        return (await records.confirmAll([current]))[0] ? current : undefined;
      const record = nextVersion(current, fields as Fields, clock.now());
      const replacement = { record, expected: current.version, before: current.fields };
      const [outcome] = await records.replaceAll([replacement]);
      if (outcome instanceof AppError) throw await withOwner(records, record, outcome);
      return outcome === 'replaced' ? record : undefined;
    });
  }

  /** @throws AppError `not_found`, `precondition_failed`, `unavailable` */
  async remove(address: RecordAddress, precondition: Precondition): Promise<void> {
    const { records, clock } = this.deps;
    await this.withOptimisticRetry(address, precondition, async (current) => {
      const at = timeOfDeletion(current, clock.now());
      const [isRemoved] = await records.removeAll([{ id: current.id, expected: current.version, at }]);
      return isRemoved ? current : undefined;
    });
  }

  /** @param write returns undefined if another write was faster */
  private async withOptimisticRetry(
    address: RecordAddress,
    precondition: Precondition,
    write: (current: Versioned<Fields>) => Promise<Versioned<Fields> | undefined>,
  ): Promise<Versioned<Fields>> {
    for (let attempt = 1; ; attempt++) {
      const current = await this.read(address);
      if (!isMet(precondition, current.version)) throw new PreconditionFailed(current);
      const written = await write(current);
      if (written) return written;
      if (attempt === MAX_ATTEMPTS) throw tooManyRaces();
      await this.deps.backoff.pause(attempt);
    }
  }
}

type CreatorParts<Fields> = Omit<CreationDependencies<Fields>, 'validate'> &
  Pick<RecordServiceDependencies<Fields>, 'rules'>;

function creatorWith<Fields>(parts: CreatorParts<Fields>): RecordCreator<Fields> {
  const { records, reservations, ids, clock, rules } = parts;
  return new RecordCreator({ records, reservations, ids, clock, validate: draftValidator(rules) });
}
