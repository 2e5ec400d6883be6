import {
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type RecordTable,
} from '../../../../application/ports/list-query.js';
import { takePage } from '../../../../application/records/lists.js';
import { StoredRecord } from '../../../../application/records/record-json.js';
import type { Id, Instant } from '../../../../domain/record.js';
import type { Task } from '../../../../shared/task-scheduler.js';
import type { Reader, RowReader, Sql } from '../connection/connection.js';
import { sql } from './schema.js';

type Metadata = [id: Id, version: number, createdAt: Instant, updatedAt: Instant];

/** The most records, and approximately the most bytes, that one statement reads. */
const MAX_RECORDS = 128;
const MAX_BYTES = 262_144;
/** The most by which a batch grows from one statement to the next: large records may follow small ones. */
const MAX_GROWTH = 1.25;

/** Separates the fields of records in a text. JSON has no such character (RFC 7464, section 2.2). */
const SEPARATOR = '\x1e';

/**
 * All records as two texts, because a value costs much more on its way out of SQLite than a character. `CROSS JOIN` makes
 * SQLite read, and concatenate, in the order of the ids (https://www.sqlite.org/optoverview.html, "Manual Control Of Query
 * Plans Using CROSS JOIN").
 */
const SELECT = `SELECT group_concat(record.id || ',' || record.version || ',' || record.created_at || ',' || record.updated_at),
  group_concat(record.fields, '${SEPARATOR}')`;

/** Four numbers of each record, and its fields. Null if there are no records. */
type RecordTexts = [metadata: string | null, fields: string | null];

/** Reads the records of a table in batches of few bytes, because the serving thread takes their texts apart. */
export class RecordReader<Fields> {
  /** @param batch the most records of the next statement: learned from the size of those that were read last */
  constructor(
    private readonly table: Pick<RecordTable, 'name'>,
    private readonly maxBytes = MAX_BYTES,
    public batch = MAX_RECORDS,
  ) {}

  /** @param ids a statement that returns `id`, of at most {@link batch} rows, whose order is kept */
  read(reader: Reader, ids: Sql): StoredRecord<Fields>[] {
    return this.recordsIn(reader.row<RecordTexts>(this.select(ids)));
  }

  /** Reads those of the records that exist, in the order of the ids. Gives way to other tasks between two batches. */
  async *batches(
    reader: RowReader,
    ids: readonly Id[],
    task?: Task,
  ): AsyncGenerator<StoredRecord<Fields>[], void, void> {
    for (let at = 0; at < ids.length; ) {
      const some = ids.slice(at, at + this.batch);
      const select = this.select(sql('SELECT value AS id FROM json_each(?)', JSON.stringify(some)));
      yield this.recordsIn(await reader.row<RecordTexts>(select));
      at += some.length;
      if (at < ids.length) await task?.yield();
    }
  }

  /** As {@link batches}, in one array. */
  async all(reader: RowReader, ids: readonly Id[], task: Task): Promise<StoredRecord<Fields>[]> {
    const records: StoredRecord<Fields>[] = [];
    for await (const some of this.batches(reader, ids, task)) records.push(...some);
    return records;
  }

  /** Reads records as {@link batches} until they fill a page. */
  async page(
    reader: RowReader,
    ids: readonly Id[],
    query: PageSize & Pick<ListQuery, 'task'>,
  ): Promise<ListPage<StoredRecord<Fields>>> {
    const found: StoredRecord<Fields>[] = [];
    let page = firstPage(query, found);
    for await (const some of this.batches(reader, ids, query.task)) {
      found.push(...some);
      page = firstPage(query, found);
      if (page.hasMore) break;
    }
    return page;
  }

  private select({ text, values }: Sql): Sql {
    const found = `FROM (${text}) AS found CROSS JOIN ${this.table.name} AS record ON record.id = found.id`;
    return sql(`${SELECT} ${found}`, ...values);
  }

  private recordsIn([metadata, fields]: RecordTexts = [null, null]): StoredRecord<Fields>[] {
    if (metadata === null || fields === null) return [];
    const numbers = JSON.parse(`[${metadata}]`) as number[];
    const texts = fields.split(SEPARATOR);
    const fitting = Math.floor((this.maxBytes * texts.length) / fields.length);
    this.batch = Math.max(1, Math.min(MAX_RECORDS, fitting, Math.ceil(this.batch * MAX_GROWTH)));
    return texts.map((text, at) => {
      const [id, version, createdAt, updatedAt] = numbers.slice(4 * at, 4 * at + 4) as Metadata;
      return StoredRecord.fromJson(id, version, createdAt, updatedAt, text);
    });
  }
}

type PageSize = Pick<ListQuery, 'limit' | 'bytes'>;

/** The page that begins with some records, in their order. */
export function firstPage<Fields>(
  { limit, bytes = MAX_PAGE_BYTES }: PageSize,
  found: readonly StoredRecord<Fields>[],
): ListPage<StoredRecord<Fields>> {
  const records = takePage(found, limit, bytes);
  return { records, hasMore: records.length < found.length };
}

/** The ids of a statement, in its order. They come as one text, because each value costs on its way out of SQLite. */
export function idsOf(reader: Reader, { text, values }: Sql): Id[] {
  return idsIn(reader.row<[string | null]>(sql(`SELECT group_concat(id) FROM (${text})`, ...values))?.[0]);
}

/** @param text from `group_concat` */
export function idsIn(text: string | null | undefined): Id[] {
  return text === null || text === undefined ? [] : (JSON.parse(`[${text}]`) as Id[]);
}
