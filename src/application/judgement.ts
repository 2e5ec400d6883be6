import { CatalogueError, type Fault, MAX_FAULTS } from '../domain/errors.js';
import type { Unjudged, Versioned } from '../domain/record.js';

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

export interface Subject<Fields> {
  readonly draft: Draft<Fields>;
  /** The record that the draft is to take the place of. */
  readonly previous?: Versioned<Fields>;
}

/** What is wrong with the references of each. */
export type ReferenceFaults<Fields> = (
  subjects: readonly Subject<Fields>[],
) => Promise<readonly (readonly Fault[])[]>;

/** Decides whether drafts may become records. */
export class Judgement<Fields> {
  constructor(
    private readonly rules: RecordRules<Fields>,
    private readonly referenceFaults: ReferenceFaults<Fields>,
  ) {}

  /** @throws CatalogueError `validation_failed` */
  async one(subject: Subject<Fields>): Promise<Fields> {
    const [fields] = await this.all([subject]);
    if (fields instanceof CatalogueError) throw fields;
    return fields as Fields;
  }

  /** @returns the fields that each gives, or all that is wrong with it */
  async all(subjects: readonly Subject<Fields>[]): Promise<readonly (Fields | CatalogueError)[]> {
    const dangling = await this.referenceFaults(subjects);
    return subjects.map(({ draft }, at) => this.judged(draft, dangling[at] ?? []));
  }

  /** The rules are asked where nothing was found yet, since they take whole fields. */
  private judged(
    { fields, faults: found }: Draft<Fields>,
    dangling: readonly Fault[],
  ): Fields | CatalogueError {
    const whole = fields as Fields;
    const own = found.length > 0 ? found : this.rules.faults(whole);
    const details = [...own, ...dangling].slice(0, MAX_FAULTS);
    if (details.length === 0) return this.rules.normal(whole);
    return new CatalogueError(
      'validation_failed',
      'The body is not what this resource takes; see details.',
      details,
    );
  }
}
