import { isDeepStrictEqual } from 'node:util';
import { CatalogueError, type Fault, notFound, PreconditionFailed, unavailable } from '../domain/errors.js';
import type { Id, Versioned } from '../domain/record.js';
import { everyPage } from './every-page.js';
import type { LeasedIds } from './leased-ids.js';
import type { Filter, ListPage, ListQuery } from './list-query.js';
import type { Backoff } from './ports/backoff.js';
import type { Clock } from './ports/clock.js';
import type { Repository } from './ports/repository.js';

/** A write that loses so many races in a row is given up, with nothing written. */
const MAX_ATTEMPTS = 64;

/** What the entity says of itself. */
export interface RecordRules<Fields> {
  faults(fields: Fields): Fault[];
  normal(fields: Fields): Fields;
}

/** Whether a write may go ahead on the version that stands now. */
export type VersionCondition = (version: number) => boolean;

export interface RecordDependencies<Fields> {
  readonly records: Repository<Fields>;
  readonly ids: LeasedIds;
  readonly rules: RecordRules<Fields>;
  readonly clock: Clock;
  readonly backoff: Backoff;
}

/** What can be done with the records of a resource. A resource that differs overrides a method. */
export class RecordUseCases<Fields> {
  constructor(protected readonly deps: RecordDependencies<Fields>) {}

  list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    return this.deps.records.list(query);
  }

  /** How many records a list with these filters has. */
  count(filters: readonly Filter[]): Promise<number> {
    return this.deps.records.count(filters);
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

  /** @throws CatalogueError `validation_failed`, `duplicate_value` */
  async create(input: Fields): Promise<Versioned<Fields>> {
    const fields = this.judged(input);
    const id = await this.deps.ids.take();
    const now = this.deps.clock.now();
    const record: Versioned<Fields> = { id, version: 1, createdAt: now, updatedAt: now, fields };
    if (!(await this.deps.records.insert(record))) throw new Error(`The store gave out the id ${id} twice.`);
    return record;
  }

  /**
   * Puts what `edit` makes of the newest state in its place; runs it again when another writer was faster.
   * An edit that changes nothing writes nothing.
   * @throws CatalogueError `not_found`, `precondition_failed`, `validation_failed`, `duplicate_value`, `unavailable`
   */
  edit(
    id: Id,
    condition: VersionCondition,
    edit: (current: Versioned<Fields>) => Fields,
  ): Promise<Versioned<Fields>> {
    return this.untilWon(id, condition, async (current) => {
      const fields = this.judged(edit(current));
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

  private async untilWon(
    id: Id,
    condition: VersionCondition,
    write: (current: Versioned<Fields>) => Promise<Versioned<Fields> | undefined>,
  ): Promise<Versioned<Fields>> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const current = await this.read(id);
      if (!condition(current.version)) throw new PreconditionFailed(current.version);
      const written = await write(current);
      if (written) return written;
      await this.deps.backoff.pause(attempt);
    }
    throw unavailable('Too many others are writing this record. Nothing was written; try again.');
  }

  private judged(fields: Fields): Fields {
    const details = this.deps.rules.faults(fields);
    if (details.length > 0)
      throw new CatalogueError('validation_failed', 'The record breaks its rules.', details);
    return this.deps.rules.normal(fields);
  }
}
