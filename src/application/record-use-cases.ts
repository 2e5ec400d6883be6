import { isDeepStrictEqual } from 'node:util';
import { CatalogueError, type Fault, notFound, PreconditionFailed, unavailable } from '../domain/errors.js';
import type { Id, Versioned } from '../domain/record.js';
import type { Created, Creation, CreationOutcome } from './creation-attempt.js';
import { everyPage } from './every-page.js';
import { keyReused, STREAM } from './idempotency.js';
import { type Draft, Judgement, type RecordRules, type Subject } from './judgement.js';
import type { LeasedIds } from './leased-ids.js';
import type { Filter, ListPage, ListQuery } from './list-query.js';
import type { Backoff } from './ports/backoff.js';
import type { Clock } from './ports/clock.js';
import type { IdempotencyStore } from './ports/idempotency-store.js';
import type { Repository } from './ports/repository.js';
import { RecordCreation } from './record-creation.js';

/** A write that loses so many races in a row is given up, with nothing written. */
const MAX_ATTEMPTS = 64;

/** Whether a write may go ahead on the version that stands now. */
export type VersionCondition = (version: number) => boolean;

export interface RecordDependencies<Fields> {
  readonly records: Repository<Fields>;
  readonly reservations: IdempotencyStore;
  readonly ids: LeasedIds;
  readonly rules: RecordRules<Fields>;
  readonly clock: Clock;
  readonly backoff: Backoff;
}

/** The use cases as callers see them, so that something else can stand in their place. */
export type Records<Fields> = Pick<RecordUseCases<Fields>, keyof RecordUseCases<Fields>>;

/** What can be done with the records of a resource. A resource that differs overrides a method. */
export class RecordUseCases<Fields> {
  private readonly judgement: Judgement<Fields>;
  private readonly creation: RecordCreation<Fields>;

  constructor(protected readonly deps: RecordDependencies<Fields>) {
    this.judgement = new Judgement(deps.rules, (subjects) => this.referenceFaults(subjects));
    this.creation = new RecordCreation({
      ...deps,
      judge: (drafts) => this.judgement.all(drafts.map((draft) => ({ draft }))),
    });
  }

  list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    return this.deps.records.list(query);
  }

  /**
   * How many records a list with these filters has.
   * @param client as in {@link ListQuery}
   */
  count(filters: readonly Filter[], client?: string): Promise<number> {
    return this.deps.records.count(filters, client);
  }

  /** All of a list from its place on, page by page. */
  pages(query: ListQuery): AsyncGenerator<readonly Versioned<Fields>[], void, void> {
    return everyPage(this.deps.records, query);
  }

  /** @throws CatalogueError `not_found` */
  async read(id: Id): Promise<Versioned<Fields>> {
    const record = await this.deps.records.find(id);
    if (!record) throw notFound();
    return record;
  }

  /** @throws CatalogueError `validation_failed`, `duplicate_value`, `idempotency_key_reused` */
  async create(creation: Creation<Fields>): Promise<Created<Fields>> {
    const [outcome] = await this.createAll([creation]);
    if (outcome instanceof CatalogueError) throw outcome;
    if (!outcome) throw new Error('Nothing became of a creation.');
    return outcome;
  }

  /**
   * Takes an idempotency key for a stream, whose lines have keys of their own. It may be taken again by the same stream.
   * @throws CatalogueError `idempotency_key_reused`
   */
  async reserveStream(key: string): Promise<void> {
    const { reservations, clock } = this.deps;
    const standing = await reservations.reserve([{ key, reservedAt: clock.now(), ...STREAM }]);
    if (standing.get(key)?.fingerprint !== STREAM.fingerprint) throw keyReused();
  }

  /**
   * Many at once; one that is refused stops no other.
   * @throws CatalogueError `unavailable`: some of them may have been created
   */
  createAll(creations: readonly Creation<Fields>[]): Promise<readonly CreationOutcome<Fields>[]> {
    return this.creation.all(creations);
  }

  /**
   * Puts what `edit` makes of the newest state in its place; runs it again when another writer was faster.
   * An edit that changes nothing writes nothing.
   * @throws CatalogueError `not_found`, `precondition_failed`, `validation_failed`, `duplicate_value`, `unavailable`
   */
  edit(
    id: Id,
    condition: VersionCondition,
    edit: (current: Versioned<Fields>) => Draft<Fields>,
  ): Promise<Versioned<Fields>> {
    return this.untilWon(id, condition, async (current) => {
      const fields = await this.judgement.one({ draft: edit(current), previous: current });
      if (isDeepStrictEqual(fields, current.fields)) return current;
      const updatedAt = Math.max(this.deps.clock.now(), current.updatedAt);
      const next = { ...current, version: current.version + 1, updatedAt, fields };
      return (await this.deps.records.replace(next, current.version)) ? next : undefined;
    });
  }

  /** @throws CatalogueError `not_found`, `precondition_failed`, `unavailable` */
  async remove(id: Id, condition: VersionCondition): Promise<void> {
    await this.untilWon(id, condition, async (current) =>
      (await this.deps.records.remove(id, current.version, this.deps.clock.now())) ? current : undefined,
    );
  }

  /**
   * What is wrong with the references that each holds and what it takes the place of does not; for a resource that has
   * some to override. Fields in which faults were found may be anything.
   */
  protected async referenceFaults(
    subjects: readonly Subject<Fields>[],
  ): Promise<readonly (readonly Fault[])[]> {
    return subjects.map(() => []);
  }

  private async untilWon(
    id: Id,
    condition: VersionCondition,
    write: (current: Versioned<Fields>) => Promise<Versioned<Fields> | undefined>,
  ): Promise<Versioned<Fields>> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const current = await this.read(id);
      if (!condition(current.version)) throw new PreconditionFailed(current);
      const written = await write(current);
      if (written) return written;
      await this.deps.backoff.pause(attempt);
    }
    throw unavailable('Too many others are writing this record. Nothing was written; try again.');
  }
}
