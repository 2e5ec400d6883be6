import { AppError, duplicateValue, unavailable } from '../../domain/errors.js';
import { type FieldSpecs, uniqueFields } from '../../domain/fields.js';
import type { Id, Versioned } from '../../domain/record.js';
import { detached, type Exhausted, heldBytes, type QuotaLimits, type QuotaShare } from '../../shared/byte-quota.js';
import type { Value } from '../ports/list-query.js';
import type { InsertOutcome, Removal, Replacement, ReplaceOutcome, Repository } from '../ports/repository.js';
import type { IdPool } from './id-allocator.js';
import { foldedValue, uniqueValueOf } from './query-semantics.js';
import { fieldsJson, StoredRecord } from './record-json.js';

const MIB = 1_048_576;

/** What all dry runs of a process may keep of new and changed records, in bytes of memory. */
export const DRY_RUN_BYTES: QuotaLimits = { perClient: 32 * MIB, total: 96 * MIB };

/** What V8 takes for an entry of a map and the numbers in it, approximately. */
const ENTRY_BYTES = 128;

/** Whether an id is that of a record which only a dry run has. No store and no client has it. */
export function isDryRunId(id: Id): boolean {
  return id < 0;
}

type Lookup<Fields> = Pick<Repository<Fields>, 'findAllByUnique'>;
type Methods = 'find' | 'findAllByUnique' | 'findUsedIds' | 'insertAll' | 'replaceAll' | 'removeAll' | 'confirmAll';

/** A record as it is kept: its text alone. Its fields as objects can take twenty times as much. */
type Kept = Pick<Versioned<unknown>, 'version' | 'createdAt' | 'updatedAt'> & { readonly json: string };

/** What became of a record or a value: undefined: it is gone; an error: nobody knows, because a write was not kept. */
type Known<State> = State | undefined | AppError;

/** A unique value, as it is compared. */
type FieldValue = readonly [field: string, value: Value];

/**
 * The records of a store as they would be after writes, which change nothing in it. So a dry run takes the steps of a
 * run, and its later writes see the earlier ones. It is also the source of its ids: see {@link isDryRunId}.
 *
 * A write for which there is no memory is refused, and so are all later ones that depend on it: see {@link refusal}.
 */
export class DryRunRepository<Fields> implements Pick<Repository<Fields>, Methods>, IdPool {
  /** The records that were written. */
  private readonly written = new Map<Id, Known<Kept>>();
  /** For each unique field, who has a value now. */
  private readonly owners: ReadonlyMap<string, Map<Value, Known<Id>>>;
  /** The error of everything that has no entry, after there was no memory to remember what was refused. */
  private closed: AppError | undefined;
  private readonly errors = new Map<Exhausted, AppError>();
  /** Integers beyond 2^53, which no body can contain. Only every second one is a number of its own. */
  private nextId: Id = Number.MIN_SAFE_INTEGER - 1;

  /** @param memory see {@link DRY_RUN_BYTES}; its opener releases it */
  constructor(
    private readonly records: Lookup<Fields>,
    readonly fields: FieldSpecs,
    private readonly memory: Pick<QuotaShare, 'take'>,
  ) {
    this.owners = new Map(uniqueFields(fields).map((field) => [field, new Map()]));
  }

  async take(count: number): Promise<Id[]> {
    const first = this.nextId;
    this.nextId -= 2 * count;
    return Array.from({ length: count }, (_, at) => first - 2 * at);
  }

  async find(id: Id): Promise<Versioned<Fields> | undefined> {
    return (await this.findAllByUnique('id', [id]))[0];
  }

  async findUsedIds(): Promise<ReadonlySet<Id>> {
    return new Set();
  }

  /** Why a write by this key is refused: an earlier one that it depends on was not kept. */
  refusal(field: string, value: Value): AppError | undefined {
    const entries: ReadonlyMap<unknown, unknown> | undefined = field === 'id' ? this.written : this.owners.get(field);
    const key = field === 'id' ? Number(value) : foldedValue(this, field, value);
    if (!entries?.has(key)) return this.closed;
    const entry = entries.get(key);
    return entry instanceof AppError ? entry : undefined;
  }

  async findAllByUnique(field: string, values: readonly Value[]): Promise<readonly (Versioned<Fields> | undefined)[]> {
    const stored = await this.records.findAllByUnique(field, values);
    return values.map((value, at) => {
      const id = field === 'id' ? Number(value) : this.ownerOf(field, value, stored[at]);
      if (id === undefined) return undefined;
      return this.written.has(id) ? this.keptRecord(id) : stored[at];
    });
  }

  /** Each time a new record, so that its fields are not kept with the text. */
  private keptRecord(id: Id): Versioned<Fields> | undefined {
    const kept = this.written.get(id);
    if (!kept || kept instanceof AppError) return undefined;
    return StoredRecord.fromJson(id, kept.version, kept.createdAt, kept.updatedAt, kept.json);
  }

  async insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]> {
    const refusals = await this.putAll(records.map((record) => ({ record })));
    return refusals.map((refusal) => refusal ?? 'inserted');
  }

  async replaceAll(replacements: readonly Replacement<Fields>[]): Promise<readonly ReplaceOutcome[]> {
    const ids = replacements.map(({ record }) => record.id);
    const old = await this.findAllByUnique('id', ids);
    const refusals = await this.putAll(replacements.map(({ record }, at) => ({ record, old: old[at] })));
    return refusals.map((refusal) => refusal ?? 'replaced');
  }

  /** A deletion that cannot be kept is not done; {@link refusal} has its error. */
  async removeAll(removals: readonly Removal[]): Promise<readonly boolean[]> {
    const ids = removals.map(({ id }) => id);
    const found = await this.findAllByUnique('id', ids);
    return found.map((record) => {
      if (!record) return false;
      return this.put(record.id, undefined, [], record) === undefined;
    });
  }

  async confirmAll(versions: readonly unknown[]): Promise<readonly boolean[]> {
    return versions.map(() => true);
  }

  /** @returns for each record why it is refused; undefined if it is not */
  private async putAll(
    changes: readonly { readonly record: Versioned<Fields>; readonly old?: Versioned<Fields> | undefined }[],
  ): Promise<readonly (AppError | undefined)[]> {
    const stored = new Map<string, readonly (Versioned<Fields> | undefined)[]>();
    for (const field of this.owners.keys()) {
      const values = changes.map(({ record }) => uniqueValueOf(this, record, field) ?? '');
      stored.set(field, await this.records.findAllByUnique(field, values));
    }
    return changes.map(({ record, old }, at) => {
      const values = this.valuesOf(record);
      for (const [field, value] of values) {
        const refusal = this.refusal(field, value);
        if (refusal) return this.lose(old?.id, values, old, refusal);
        const owner = this.ownerOf(field, value, stored.get(field)?.[at]);
        if (owner !== undefined && owner !== record.id) return duplicateValue(field);
      }
      const { version, createdAt, updatedAt } = record;
      const kept = { version, createdAt, updatedAt, json: fieldsJson(record) };
      return this.put(record.id, kept, values, old);
    });
  }

  /**
   * Keeps what became of a record.
   * @param values those that it has from now on
   * @param old the record until now
   * @returns why it is not kept
   */
  private put(
    id: Id,
    kept: Kept | undefined,
    values: readonly FieldValue[],
    old: Versioned<Fields> | undefined,
  ): AppError | undefined {
    const given = this.givenUp(values, old);
    const exhausted = this.memory.take(this.growth(id, kept, [...values, ...given]));
    if (exhausted) return this.lose(old?.id, values, old, this.errorOf(exhausted));
    this.written.set(id, kept);
    this.setOwner(given, undefined);
    this.setOwner(values, id);
    return undefined;
  }

  /**
   * Remembers that nobody knows what has become of a record and of its values. Without memory for that, nothing is known
   * of any record or value but of those that have an entry.
   * @param id undefined: a new record, which nobody can find by its id
   */
  private lose(
    id: Id | undefined,
    values: readonly FieldValue[],
    old: Versioned<Fields> | undefined,
    refusal: AppError,
  ): AppError {
    const lost = [...values, ...this.givenUp(values, old)];
    const isRemembered = !this.memory.take(this.growth(id, undefined, lost));
    const hasEntry = ([field, value]: FieldValue) => this.owners.get(field)?.has(value);
    if (!isRemembered) this.closed ??= refusal;
    if (id !== undefined && (isRemembered || this.written.has(id))) this.written.set(id, refusal);
    this.setOwner(isRemembered ? lost : lost.filter(hasEntry), refusal);
    return refusal;
  }

  private setOwner(values: readonly FieldValue[], owner: Known<Id>): void {
    for (const [field, value] of values) {
      const owners = this.owners.get(field);
      const key = typeof value === 'string' && !owners?.has(value) ? detached(value) : value;
      owners?.set(key, owner);
    }
  }

  /** The bytes by which memory grows, or shrinks, if a record and these values have entries. */
  private growth(id: Id | undefined, kept: Kept | undefined, values: readonly FieldValue[]): number {
    const before = id === undefined ? undefined : this.written.get(id);
    let bytes = id === undefined || this.written.has(id) ? 0 : ENTRY_BYTES;
    if (kept) bytes += heldBytes(kept.json);
    if (before && !(before instanceof AppError)) bytes -= heldBytes(before.json);
    for (const [field, value] of values)
      if (!this.owners.get(field)?.has(value)) bytes += ENTRY_BYTES + heldBytes(String(value));
    return bytes;
  }

  /** The values that a record does not have any more. */
  private givenUp(values: readonly FieldValue[], old: Versioned<Fields> | undefined): readonly FieldValue[] {
    if (!old) return [];
    const isKept = ([field, value]: FieldValue) => values.some(([one, own]) => one === field && own === value);
    return this.valuesOf(old).filter((value) => !isKept(value));
  }

  /** @param stored the record that has the value in the store */
  private ownerOf(field: string, value: Value, stored: Versioned<Fields> | undefined): Id | undefined {
    const compared = foldedValue(this, field, value);
    const owners = this.owners.get(field);
    const owner = owners?.has(compared) ? owners.get(compared) : stored?.id;
    return owner instanceof AppError ? undefined : owner;
  }

  private valuesOf(record: Versioned<Fields>): FieldValue[] {
    return [...this.owners.keys()].flatMap((field) => {
      const value = uniqueValueOf(this, record, field);
      return value === undefined ? [] : [[field, value] as const];
    });
  }

  /** One error for all lines: each has a stack of its own. */
  private errorOf(exhausted: Exhausted): AppError {
    const error = this.errors.get(exhausted) ?? tooMuch(exhausted);
    this.errors.set(exhausted, error);
    return error;
  }
}

function tooMuch(exhausted: Exhausted): AppError {
  const { perClient, total } = DRY_RUN_BYTES;
  if (exhausted === 'all')
    return unavailable(
      `All dry runs together keep ${total / MIB} MiB of new and changed records, which is the limit. Try again later.`,
    );
  return new AppError(
    'payload_too_large',
    `The dry runs of one client keep at most ${perClient / MIB} MiB of new and changed records in memory. Send the rest in another one, after this one.`,
  );
}
