import type {
  Facet,
  FacetQuery,
  Filter,
  ListPage,
  ListQuery,
  RecordTable,
  Value,
} from '../../../application/ports/list-query.js';
import type {
  InsertOutcome,
  RecordVersion,
  Removal,
  Replacement,
  ReplaceOutcome,
  Repository,
} from '../../../application/ports/repository.js';
import { foldedValue, ownersOf, uniqueValueOf } from '../../../application/records/query-semantics.js';
import { fieldsJson } from '../../../application/records/record-json.js';
import { mayDifferInWords } from '../../../application/search/tokenizer.js';
import { AppError, duplicateValue, unavailable } from '../../../domain/errors.js';
import { uniqueFields } from '../../../domain/fields.js';
import type { Id, Versioned } from '../../../domain/record.js';
import { compareText } from '../../../domain/text.js';
import type { Task } from '../../../shared/task-scheduler.js';
import { RECORD_COLUMNS, type RecordRow, recordOf, uniqueColumnOf } from '../sql/keyset.js';
import { Batches } from './batches.js';
import { IS_LIVE, type TableWrites, uniqueIndexOf } from './columns.js';
import { isDeadlock, isRefusedByOne, violatedIndex } from './errors.js';
import { PostgresqlLists } from './lists.js';
import { IdCounter } from './small-tables.js';
import { type PostgresqlStore, prepared, type Statement } from './store.js';

/** The most records, and about the most bytes of fields, that one statement writes: one slice of the thread makes them. */
const WRITTEN_TOGETHER = 500;
const WRITTEN_BYTES = 64 * 1024;

/** The most records that one answer brings: the driver reads a whole answer at once, and a record may have 135 KiB. */
const RECORDS_AT_ONCE = 50;

/** Who refused a record can be gone when the store asks, but hardly ever twice in a row. */
const MAX_TRIES = 3;

/** Every write is one statement, so no write needs a transaction of several. */
export class PostgresqlRepository<Fields> extends IdCounter implements Repository<Fields> {
  private readonly lists: PostgresqlLists<Fields>;
  private readonly insertions: Batches<Versioned<Fields>, InsertOutcome>;
  /** Replacements of single records: those that keep the words of the record, and the others. */
  private readonly replacements: Readonly<Record<'kept' | 'new', Batches<Replacement<Fields>, ReplaceOutcome>>>;
  private readonly reads: Batches<Id, Versioned<Fields> | undefined>;
  private readonly unique: readonly string[];
  private readonly selectUsed: Statement;
  private readonly selectVersions: Statement;
  /** For each unique field, and for `id`: records by values, and which of the values are in use. */
  private readonly byUnique: ReadonlyMap<string, { readonly find: Statement; readonly used: Statement }>;

  constructor(
    store: PostgresqlStore,
    private readonly table: RecordTable,
    private readonly writes: TableWrites,
  ) {
    super(store, table);
    const { name } = table;
    this.lists = new PostgresqlLists(store, table);
    const waitMs = store.operationMs;
    const limits = { maxConcurrent: 2, items: WRITTEN_TOGETHER, bytes: WRITTEN_BYTES, waitMs };
    this.insertions = new Batches(
      limits,
      (records) => this.insertTogether(records),
      (record) => fieldsJson(record).length,
    );
    const replacing = (keepsWords: boolean) =>
      new Batches<Replacement<Fields>, ReplaceOutcome>(
        limits,
        (replacements) => this.replaceOfCallers(replacements, keepsWords),
        ({ record }) => fieldsJson(record).length,
      );
    this.replacements = { kept: replacing(true), new: replacing(false) };
    this.reads = new Batches(
      { maxConcurrent: 3, items: RECORDS_AT_ONCE, bytes: RECORDS_AT_ONCE, waitMs },
      (ids) => this.findTogether(ids),
      () => 1,
    );
    this.unique = uniqueFields(table.fields);
    const isGiven = 'WHERE id = ANY($1::bigint[])';
    this.selectUsed = prepared(`SELECT id FROM ${name} ${isGiven}`);
    this.selectVersions = prepared(
      `SELECT id, version FROM ${name} ${isGiven} AND ${IS_LIVE} ORDER BY id FOR KEY SHARE`,
    );
    this.byUnique = new Map(
      ['id', ...this.unique].map((field) => {
        const column = uniqueColumnOf(table, field);
        const type = table.fields[field]?.type === 'text' ? 'text' : 'bigint';
        const among = `FROM ${name} WHERE ${column} = ANY($1::${type}[]) AND ${IS_LIVE}`;
        const find = prepared(`SELECT ${RECORD_COLUMNS} ${among}`);
        return [field, { find, used: prepared(`SELECT ${column} ${among}`) }];
      }),
    );
  }

  async insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]> {
    const outcomes: InsertOutcome[] = [];
    for (const part of parts(records, (record) => record))
      outcomes.push(...(await this.store.calls.run(() => this.insertions.add(part))));
    return outcomes;
  }

  async find(id: Id): Promise<Versioned<Fields> | undefined> {
    const [record] = await this.store.calls.run(() => this.reads.add([id]));
    return record;
  }

  /**
   * Locking the rows is a write, which is acknowledged as any other: only by a server that may still write, and not
   * before those that must acknowledge writes have done so.
   */
  async confirmAll(versions: readonly RecordVersion[]): Promise<readonly boolean[]> {
    const ids = versions.map(({ id }) => id);
    const found = new Map(await this.store.run<[Id, number]>(this.selectVersions, [ids]));
    return versions.map(({ id, version }) => found.get(id) === version);
  }

  findExistingIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    return this.idsBy(this.statementsOf('id').used, ids);
  }

  findUsedIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    return this.idsBy(this.selectUsed, ids);
  }

  async findByUnique(field: string, value: Value): Promise<Versioned<Fields> | undefined> {
    const [record] = await this.findAllByUnique(field, [value]);
    return record;
  }

  async findAllByUnique(field: string, values: readonly Value[]): Promise<readonly (Versioned<Fields> | undefined)[]> {
    const wanted = values.map((value) => foldedValue(this.table, field, value)).filter(canBeStored);
    const records: Versioned<Fields>[] = [];
    for (let start = 0; start < wanted.length; start += RECORDS_AT_ONCE) {
      const some = wanted.slice(start, start + RECORDS_AT_ONCE);
      const rows = await this.store.run<RecordRow>(this.statementsOf(field).find, [some]);
      records.push(...rows.map((row) => recordOf<Fields>(row)));
    }
    return ownersOf(this.table, field, values, records);
  }

  list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    return this.lists.list(query);
  }

  facets(query: FacetQuery): Promise<readonly Facet[]> {
    return this.lists.facets(query);
  }

  count(filters: readonly Filter[], task?: Task, distinct?: string): Promise<number> {
    return this.lists.count(filters, task, distinct);
  }

  async replaceAll(replacements: readonly Replacement<Fields>[]): Promise<readonly ReplaceOutcome[]> {
    const groups = (['kept', 'new'] as const).flatMap((words) => {
      const some = replacements.filter((one) => this.keepsWords(one) === (words === 'kept'));
      return parts(some, ({ record }) => record).map((part) => ({ part, batches: this.replacements[words] }));
    });
    const outcomes = new Map<Replacement<Fields>, ReplaceOutcome>();
    await this.store.calls.quota.each(
      groups,
      async ({ part, batches }) => {
        const found = await this.store.calls.run(() => batches.add(part));
        for (const [at, outcome] of found.entries()) outcomes.set(part[at] as Replacement<Fields>, outcome);
      },
      replacements.length === 1,
    );
    return replacements.map((replacement) => outcomes.get(replacement) as ReplaceOutcome);
  }

  removeAll(removals: readonly Removal[]): Promise<readonly boolean[]> {
    return this.store.calls.quota.each(removals, async ({ id, expected, at }) => {
      const removed = await this.store.run(this.writes.remove, [expected, id, at]);
      return removed.length > 0;
    });
  }

  private keepsWords({ record, before }: Replacement<Fields>): boolean {
    return before !== undefined && !mayDifferInWords(this.table, before as object, record.fields as object);
  }

  /**
   * Replaces records of several callers. Of two replacements of one record, the second waits for the first. Processes
   * that replace the same records lock them in one order.
   */
  private async replaceOfCallers(
    replacements: readonly Replacement<Fields>[],
    keepsWords: boolean,
  ): Promise<ReplaceOutcome[]> {
    const outcomes = new Map<Replacement<Fields>, ReplaceOutcome>();
    for (let left = replacements; left.length > 0; left = left.filter((one) => !outcomes.has(one))) {
      const some = firstOfEachId(left, ({ record }) => record.id).toSorted((a, b) => a.record.id - b.record.id);
      const found = await this.replaceTogether(some, keepsWords).catch((error) => {
        if (outcomes.size === 0) throw error;
        return some.map(() => ownOutcome(error));
      });
      for (const [at, replacement] of some.entries()) outcomes.set(replacement, found[at] as ReplaceOutcome);
    }
    return replacements.map((replacement) => outcomes.get(replacement) as ReplaceOutcome);
  }

  /** Replaces different records in one statement or, if one of them refuses it, each in its own. */
  private async replaceTogether(
    replacements: readonly Replacement<Fields>[],
    keepsWords: boolean,
  ): Promise<ReplaceOutcome[]> {
    const { writes } = this;
    const records = replacements.map(({ record }) => record);
    const expected = replacements.map((replacement) => replacement.expected);
    try {
      const rows = await (keepsWords
        ? this.store.run<[Id]>(writes.replaceRest, [expected, ...writes.restsOf(records)])
        : this.store.run<[Id]>(writes.replace, [expected, ...writes.rowsOf(records)]));
      const replaced = new Set(rows.map(([id]) => id));
      return records.map(({ id }) => (replaced.has(id) ? 'replaced' : 'version_conflict'));
    } catch (error) {
      if (records.length > 1 && isRefusedByOne(error)) {
        const outcomes: ReplaceOutcome[] = [];
        for (const one of replacements)
          outcomes.push(...(await this.replaceTogether([one], keepsWords).catch((reason) => [ownOutcome(reason)])));
        return outcomes;
      }
      // As after any lost race, the caller reads the record again.
      if (isDeadlock(error)) return ['version_conflict'];
      const index = violatedIndex(error);
      const field = this.unique.find((unique) => uniqueIndexOf(this.table, unique) === index);
      if (index === undefined || field === undefined) throw error;
      return [duplicateValue(field)];
    }
  }

  /**
   * Inserts records of several callers. They are sorted by a unique value, so that two processes that insert the same
   * values do not wait for each other.
   */
  private async insertTogether(records: readonly Versioned<Fields>[]): Promise<InsertOutcome[]> {
    const outcomes = new Map<Versioned<Fields>, InsertOutcome>();
    let left = records;
    for (let tries = 0; left.length > 0; tries++) {
      if (tries === MAX_TRIES) {
        const error = unavailable('The records that refused others could not be read.');
        for (const record of left) outcomes.set(record, error);
        break;
      }
      // Of two records with one id, the second waits for what becomes of the first.
      const some = this.inOrder(firstOfEachId(left, ({ id }) => id));
      try {
        const rows = await this.store.run<[Id]>(this.writes.insert, this.writes.rowsOf(some));
        const inserted = new Set(rows.map(([id]) => id));
        for (const record of some) if (inserted.has(record.id)) outcomes.set(record, 'inserted');
        left = left.filter((record) => !outcomes.has(record));
        for (const [record, reason] of await this.refusals(left)) outcomes.set(record, reason);
      } catch (error) {
        // An error of all would insert again what is inserted.
        if (outcomes.size === 0 || !(error instanceof AppError && isRefusedByOne(error))) throw error;
        for (const record of left) outcomes.set(record, error);
      }
      left = left.filter((record) => !outcomes.has(record));
    }
    return records.map((record) => outcomes.get(record) as InsertOutcome);
  }

  private inOrder(records: readonly Versioned<Fields>[]): readonly Versioned<Fields>[] {
    const [field] = this.unique;
    if (field === undefined || records.length < 2) return records;
    const textOf = (record: Versioned<Fields>) => String(uniqueValueOf(this.table, record, field) ?? '');
    return records.toSorted((a, b) => compareText(textOf(a), textOf(b)));
  }

  /** Why records cannot be inserted, as far as the records that refuse them are still there. */
  private async refusals(records: readonly Versioned<Fields>[]): Promise<Map<Versioned<Fields>, InsertOutcome>> {
    const reasons = new Map<Versioned<Fields>, InsertOutcome>();
    if (records.length === 0) return reasons;
    for (const field of this.unique) {
      const uniqueOf = (record: Versioned<Fields>) => uniqueValueOf(this.table, record, field);
      const values = records.map(uniqueOf).filter((value) => value !== undefined);
      const rows = await this.store.run<[Value]>(this.statementsOf(field).used, [values]);
      const used = new Set(rows.map(([value]) => value));
      for (const record of records) if (used.has(uniqueOf(record) ?? '')) reasons.set(record, duplicateValue(field));
    }
    const usedIds = await this.findUsedIds(records.map(({ id }) => id));
    for (const record of records) if (usedIds.has(record.id)) reasons.set(record, 'id_conflict');
    return reasons;
  }

  private async findTogether(ids: readonly Id[]): Promise<(Versioned<Fields> | undefined)[]> {
    const rows = await this.store.run<RecordRow>(this.statementsOf('id').find, [ids]);
    const records = new Map(rows.map((row) => [row[0], recordOf<Fields>(row)]));
    return ids.map((id) => records.get(id));
  }

  private async idsBy(statement: Statement, ids: readonly Id[]): Promise<Set<Id>> {
    if (ids.length === 0) return new Set();
    const rows = await this.store.run<[Id]>(statement, [ids]);
    return new Set(rows.map(([id]) => id));
  }

  private statementsOf(field: string) {
    const statements = this.byUnique.get(field);
    if (!statements) throw new Error(`The field ${field} of ${this.table.name} is not unique.`);
    return statements;
  }
}

/** An error of some must not be that of all: replacements done before would be done again, and lose to themselves. */
function ownOutcome(error: unknown): ReplaceOutcome {
  if (error instanceof AppError) return error;
  throw error;
}

function firstOfEachId<Write>(writes: readonly Write[], idOf: (write: Write) => Id): readonly Write[] {
  const first = new Map<Id, Write>();
  for (const write of writes) if (!first.has(idOf(write))) first.set(idOf(write), write);
  return [...first.values()];
}

/** Whether a record can have this value: no text has U+0000, and integers have at most 2^53. */
function canBeStored(value: Value): boolean {
  return typeof value === 'string' ? !value.includes('\0') : Number.isSafeInteger(value);
}

/** Cuts a list of writes into those that are done together. Of two neighbours with one id, each has a part of its own. */
export function parts<Write>(writes: readonly Write[], recordOf: (write: Write) => Versioned<unknown>): Write[][] {
  const all: Write[][] = [];
  let bytes = 0;
  let id: Id | undefined;
  for (const write of writes) {
    const record = recordOf(write);
    const size = fieldsJson(record).length;
    const last = all.at(-1);
    if (last && last.length < WRITTEN_TOGETHER && bytes + size <= WRITTEN_BYTES && record.id !== id) {
      last.push(write);
      bytes += size;
    } else {
      all.push([write]);
      bytes = size;
    }
    id = record.id;
  }
  return all;
}
