import type { Created, Creation, CreationOutcome } from '../../../../application/creation-attempt.js';
import type { Draft } from '../../../../application/judgement.js';
import type { Filter, ListPage, ListQuery } from '../../../../application/list-query.js';
import type { Records, VersionCondition } from '../../../../application/record-use-cases.js';
import { CatalogueError, type ErrorCode, type Fault, PreconditionFailed } from '../../../../domain/errors.js';
import type { Id, Unjudged, Versioned } from '../../../../domain/record.js';
import { FieldNames } from './field-names.js';

/** How a version of a resource puts what is kept, where it has other fields or other names for them. */
export interface Translation<Kept, Shown> {
  /** What lists ask by and faults point at under another name than it is kept: `{ title: 'name' }`. */
  readonly names: Readonly<Record<string, string>>;
  shown(fields: Kept): Shown;
  /**
   * @param sent may be anything where faults were found with it; what comes of that is to be such that it can be shown.
   * What has no value is to be absent
   * @param current what is edited; of it stays what this version does not show
   */
  kept(sent: Unjudged<Shown>, current: Kept | undefined): Unjudged<Kept>;
}

/** The records of a resource in the words of one version of it: what is done with them is the same in all. */
export class TranslatedRecords<Kept, Shown> implements Records<Shown> {
  private readonly names: FieldNames;
  /** What is told in the words of this version already. */
  private readonly own = new WeakSet<Fault>();

  constructor(
    private readonly records: Records<Kept>,
    private readonly translation: Translation<Kept, Shown>,
  ) {
    this.names = new FieldNames(translation.names);
  }

  async list(query: ListQuery): Promise<ListPage<Versioned<Shown>>> {
    const page = await this.records.list(this.names.query(query));
    return { ...page, records: page.records.map(this.shown) };
  }

  count(filters: readonly Filter[], client?: string): Promise<number> {
    return this.records.count(this.names.filters(filters), client);
  }

  async *pages(query: ListQuery): AsyncGenerator<readonly Versioned<Shown>[], void, void> {
    for await (const page of this.records.pages(this.names.query(query))) yield page.map(this.shown);
  }

  async read(id: Id): Promise<Versioned<Shown>> {
    return this.shown(await this.records.read(id));
  }

  create(creation: Creation<Shown>): Promise<Created<Shown>> {
    return this.telling(async () => this.created(await this.records.create(this.creation(creation))));
  }

  reserveStream(key: string): Promise<void> {
    return this.records.reserveStream(key);
  }

  async createAll(creations: readonly Creation<Shown>[]): Promise<readonly CreationOutcome<Shown>[]> {
    const outcomes = await this.records.createAll(creations.map((creation) => this.creation(creation)));
    return outcomes.map((outcome) =>
      outcome instanceof CatalogueError ? this.told(outcome) : this.created(outcome),
    );
  }

  edit(
    id: Id,
    condition: VersionCondition,
    edit: (current: Versioned<Shown>) => Draft<Shown>,
  ): Promise<Versioned<Shown>> {
    return this.telling(async () => {
      const edited = await this.records.edit(id, condition, (current) =>
        this.draft(edit(this.shown(current)), current.fields),
      );
      return this.shown(edited);
    });
  }

  remove(id: Id, condition: VersionCondition): Promise<void> {
    return this.telling(() => this.records.remove(id, condition));
  }

  private readonly shown = (record: Versioned<Kept>): Versioned<Shown> => ({
    ...record,
    fields: this.translation.shown(record.fields),
  });

  private created({ record, isReplay }: Created<Kept>): Created<Shown> {
    return { record: this.shown(record), isReplay };
  }

  private creation({ draft, once }: Creation<Shown>): Creation<Kept> {
    return { draft: this.draft(draft), once };
  }

  private draft({ fields, faults }: Draft<Shown>, current?: Kept): Draft<Kept> {
    for (const fault of faults) this.own.add(fault);
    return { fields: this.translation.kept(fields, current), faults };
  }

  private async telling<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof CatalogueError ? this.told(error) : error;
    }
  }

  private told(error: CatalogueError): CatalogueError {
    if (error instanceof PreconditionFailed)
      return new PreconditionFailed(this.shown(error.current as Versioned<Kept>));
    if (!OF_FIELDS.includes(error.code)) return error;
    const details = error.details.map((fault) => (this.own.has(fault) ? fault : this.names.fault(fault)));
    const isOne = error.details.length === 1 && error.details[0]?.message === error.message;
    return new CatalogueError(error.code, isOne ? (details[0]?.message ?? '') : error.message, details);
  }
}

/** Whose details point at fields of the record; those of a JSON Patch point into the patch. */
const OF_FIELDS: readonly ErrorCode[] = ['validation_failed', 'duplicate_value'];
