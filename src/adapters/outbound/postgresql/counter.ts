import type { RecordTable } from '../../../application/ports/list-query.js';
import type { Id } from '../../../domain/record.js';
import { type PostgresqlStore, prepared } from './store.js';

const RESERVE = prepared(`INSERT INTO counters AS counter VALUES ($1, $2::bigint + $3)
  ON CONFLICT (name) DO UPDATE SET next_id = counter.next_id + $3 RETURNING next_id - $3`);
const RELEASE = prepared('UPDATE counters SET next_id = $2 WHERE name = $1 AND next_id = $3');
const NEXT = prepared('SELECT next_id FROM counters WHERE name = $1');
const RAISE = prepared(`INSERT INTO counters AS counter VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET next_id = excluded.next_id WHERE excluded.next_id > counter.next_id`);

/** The counter that the ids of a table come from. */
export class Counter {
  constructor(
    private readonly store: PostgresqlStore,
    private readonly table: Pick<RecordTable, 'name' | 'firstId'>,
  ) {}

  /** Reserves consecutive ids. Returns the first. */
  async reserve(count: number): Promise<Id> {
    const { name, firstId } = this.table;
    const [[first] = [firstId]] = await this.store.run<[Id]>(RESERVE, [name, firstId, count]);
    return first;
  }

  /** Returns the ids from `first` to before `end` to the counter, if no later id has been reserved. */
  async release(first: Id, end: Id): Promise<void> {
    await this.store.run(RELEASE, [this.table.name, first, end]);
  }

  /** Returns the first id that was never reserved. */
  async next(): Promise<Id> {
    const [[next] = [this.table.firstId]] = await this.store.run<[Id]>(NEXT, [this.table.name]);
    return next;
  }

  /** Raises the counter, so that from now on no id before `next` is reserved. */
  async raise(next: Id): Promise<void> {
    await this.store.run(RAISE, [this.table.name, next]);
  }
}
