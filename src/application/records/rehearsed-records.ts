import { AppError, duplicateValue } from '../../domain/errors.js';
import { type FieldSpecs, uniqueFields } from '../../domain/fields.js';
import type { Id, Versioned } from '../../domain/record.js';
import type { Value } from '../ports/list-query.js';
import type { InsertOutcome, Removal, Replacement, ReplaceOutcome, Repository } from '../ports/repository.js';
import type { IdPool } from './id-allocator.js';
import { comparedUniqueValue, uniqueValueOf } from './query-semantics.js';
import { StoredRecord } from './record-json.js';

/** A dry run keeps at most so many bytes of records that would be new or changed. */
export const MAX_REHEARSED_BYTES = 64 * 1024 * 1024;

/** Whether an id is that of a record which only a dry run has. No store and no client has it. */
export function isRehearsed(id: Id): boolean {
  return id < 0;
}

type Lookup<Fields> = Pick<Repository<Fields>, 'findAllByUnique'>;
type Writes = 'findUsedIds' | 'insertAll' | 'replaceAll' | 'removeAll' | 'confirmAll';

/**
 * The records of a store as they would be after writes, which change nothing in it. So a dry run takes the steps of a
 * run, and its later writes see the earlier ones. It is also the source of its ids: see {@link isRehearsed}.
 */
export class RehearsedRecords<Fields> implements Lookup<Fields>, Pick<Repository<Fields>, Writes>, IdPool {
  /** The records that were written; undefined: deleted. */
  private readonly written = new Map<Id, StoredRecord<Fields> | undefined>();
  /** For each unique field, who has a value now; undefined: nobody. */
  private readonly owners: ReadonlyMap<string, Map<Value, Id | undefined>>;
  /** Integers beyond 2^53, which no body can contain. Only every second one is a number of its own. */
  private nextId: Id = Number.MIN_SAFE_INTEGER - 1;
  private bytes = 0;

  constructor(
    private readonly records: Lookup<Fields>,
    readonly fields: FieldSpecs,
  ) {
    this.owners = new Map(uniqueFields(fields).map((field) => [field, new Map()]));
  }

  async take(count: number): Promise<Id[]> {
    const first = this.nextId;
    this.nextId -= 2 * count;
    return Array.from({ length: count }, (_, at) => first - 2 * at);
  }

  async findUsedIds(): Promise<ReadonlySet<Id>> {
    return new Set();
  }

  async findAllByUnique(
    field: string,
    values: readonly Value[],
  ): Promise<readonly (Versioned<Fields> | undefined)[]> {
    const stored = await this.records.findAllByUnique(field, values);
    return values.map((value, at) => {
      const id = field === 'id' ? Number(value) : this.ownerOf(field, value, stored[at]);
      if (id === undefined) return undefined;
      return this.written.has(id) ? this.written.get(id) : stored[at];
    });
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

  async removeAll(removals: readonly Removal[]): Promise<readonly boolean[]> {
    const ids = removals.map(({ id }) => id);
    const found = await this.findAllByUnique('id', ids);
    for (const record of found) {
      if (!record) continue;
      this.own(record, undefined);
      this.written.set(record.id, undefined);
    }
    return found.map((record) => record !== undefined);
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
      const values = changes.map(({ record }) => this.valueOf(record, field) ?? '');
      stored.set(field, await this.records.findAllByUnique(field, values));
    }
    return changes.map(({ record, old }, at) => {
      for (const field of this.owners.keys()) {
        const value = this.valueOf(record, field);
        const owner = value === undefined ? undefined : this.ownerOf(field, value, stored.get(field)?.[at]);
        if (owner !== undefined && owner !== record.id) return duplicateValue(field);
      }
      const kept = StoredRecord.of(record);
      if (this.bytes + kept.fieldsBytes > MAX_REHEARSED_BYTES) return tooMuch();
      this.bytes += kept.fieldsBytes;
      if (old) this.own(old, undefined);
      this.own(record, record.id);
      this.written.set(record.id, kept);
      return undefined;
    });
  }

  /** @param stored the record that has the value in the store */
  private ownerOf(field: string, value: Value, stored: Versioned<Fields> | undefined): Id | undefined {
    const compared = comparedUniqueValue(this, field, value);
    const owners = this.owners.get(field);
    return owners?.has(compared) ? owners.get(compared) : stored?.id;
  }

  private own(record: Versioned<Fields>, owner: Id | undefined): void {
    for (const [field, owners] of this.owners) {
      const value = this.valueOf(record, field);
      if (value !== undefined) owners.set(value, owner);
    }
  }

  private valueOf(record: Versioned<Fields>, field: string): Value | undefined {
    return uniqueValueOf(this, record, field);
  }
}

function tooMuch(): AppError {
  return new AppError(
    'payload_too_large',
    `A dry run keeps ${MAX_REHEARSED_BYTES} bytes of new and changed records. Send the rest in another one.`,
  );
}
