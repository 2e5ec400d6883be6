import { isDeepStrictEqual } from 'node:util';
import {
  CatalogueError,
  type Fault,
  MAX_FAULTS,
  notFound,
  PreconditionFailed,
  unavailable,
} from '../domain/errors.js';
import type { Id, Unjudged, Versioned } from '../domain/record.js';
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

/** The fields of a record to be, and what whoever made them found wrong with them. */
export interface Draft<Fields> {
  /** As the resource has them where there is no fault. */
  readonly fields: Unjudged<Fields>;
  readonly faults: readonly Fault[];
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
  async create(draft: Draft<Fields>): Promise<Versioned<Fields>> {
    const fields = await this.judged(draft);
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
    edit: (current: Versioned<Fields>) => Draft<Fields>,
  ): Promise<Versioned<Fields>> {
    return this.untilWon(id, condition, async (current) => {
      const fields = await this.judged(edit(current), current);
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
   * What is wrong with the references that these fields hold and `previous` does not; for a resource that has some to
   * override. Fields in which faults were found may be anything.
   */
  protected async referenceFaults(
    _fields: Unjudged<Fields>,
    _previous: Versioned<Fields> | undefined,
  ): Promise<Fault[]> {
    return [];
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

  /** All that is wrong is told at once; the rules are asked where nothing was found yet, since they take whole fields. */
  private async judged(draft: Draft<Fields>, previous?: Versioned<Fields>): Promise<Fields> {
    const { rules } = this.deps;
    const fields = draft.fields as Fields;
    const own = draft.faults.length > 0 ? draft.faults : rules.faults(fields);
    const faults = [...own, ...(await this.referenceFaults(draft.fields, previous))];
    if (faults.length === 0) return rules.normal(fields);
    const details = faults.slice(0, MAX_FAULTS);
    throw new CatalogueError(
      'validation_failed',
      'The body is not what this resource takes; see details.',
      details,
    );
  }
}
