import { isDeepStrictEqual } from 'node:util';
import { parse } from 'csv-parse/sync';
import { RECORD_TABLES } from '#src/composition/tables.js';
import { exampleOf, type Field, type FieldTable } from '#src/domain/fields.js';
import type { HttpClient, HttpResponse } from '../../support/http-client.js';
import { inParallel } from '../../support/parallel-limits.js';
import { bodyOf } from '../../support/tables.js';
import { CSV, JSON_PATCH, MERGE_PATCH, NDJSON, ofType } from './media-types.js';
import { meaningOf, meaningOfRow, objectOf, type Plural, type Written } from './random-records.js';
import { BLANK_AROUND } from './ways-to-send.js';

const LANES = 8;

/** Writes records in every way, reads each in every way, and lists the values that changed. */
export class RoundTrips {
  private count = 0;
  readonly changes: string[] = [];
  serverErrors = 0;
  trips = 0;

  constructor(
    private readonly client: () => HttpClient,
    private readonly store: string,
  ) {}

  async run(plural: Plural, drawn: readonly Written[]): Promise<void> {
    const records = drawn.map((one) => this.numbered(plural, one));
    const path = `/v1/${plural}`;
    const ids = new Map<number, Written>();
    // Of ten records: six as NDJSON, two as CSV, and one or two by requests of their own.
    const lines = records.filter((_, at) => at % 10 < 6);
    const rows = records.filter((_, at) => at % 10 === 6 || at % 10 === 7);
    const singles = records.filter((_, at) => at % 10 > 7);
    await this.import(path, NDJSON, lines.map((one) => `${objectOf(one)}\n`).join(''), lines, ids);
    const hasRows = Object.values<Field>(RECORD_TABLES[plural].entity).some(
      (field) => field.kind === 'list' && field.rows,
    );
    const isWritable = ({ tags = '[]' }: Written) =>
      !hasRows && !JSON.parse(tags).some((tag: string) => BLANK_AROUND.test(tag));
    singles.push(...rows.filter((one) => !isWritable(one)));
    const writable = rows.filter(isWritable);
    await this.import(path, CSV, csvOf(plural, writable), writable, ids);
    await inParallel(LANES, singles, (one, at) => this.writeSingle(plural, one, at, ids));
    await this.compare(plural, ids, hasRows);
    await this.sendBack(plural, Math.min(...ids.keys()), hasRows);
  }

  /** The record with a value of its own in each unique field. */
  private numbered(plural: Plural, record: Written): Written {
    const number = String(++this.count);
    const table: FieldTable = RECORD_TABLES[plural].entity;
    const all = Object.entries(record).map(([name, json]) => [
      name,
      table[name]?.unique ? json.replace('NUMBER', number) : json,
    ]);
    return Object.fromEntries(all);
  }

  private async import(
    path: string,
    type: string,
    body: string,
    records: readonly Written[],
    ids: Map<number, Written>,
  ) {
    if (records.length === 0) return;
    const { text, status } = await this.client().post(`${path}/imports`, body, ofType(type));
    if (status >= 500) this.serverErrors++;
    const results = text.split('\n').filter((line) => line !== '');
    for (const [at, record] of records.entries()) {
      const { id, error } = JSON.parse(results[at] ?? '{}');
      if (id) ids.set(id, record);
      else this.changes.push(`${this.store} ${type} refused ${objectOf(record)}: ${JSON.stringify(error)}`);
    }
  }

  private async writeSingle(plural: Plural, record: Written, at: number, ids: Map<number, Written>): Promise<void> {
    const client = this.client();
    const path = `/v1/${plural}`;
    const body = objectOf(record);
    const way = at % 4;
    const table: FieldTable = RECORD_TABLES[plural].entity;
    const before = { ...exampleOf(table), ...bodyOf(plural, ++this.count) };
    const other: Written = Object.fromEntries(
      Object.entries(before).map(([name, value]) => [name, JSON.stringify(value)]),
    );
    const created = await client.post(path, way === 0 ? body : objectOf(other));
    if (created.status !== 201) {
      this.changes.push(`${this.store} POST refused ${body}: ${created.text}`);
      return;
    }
    const { id } = created.json;
    ids.set(id, record);
    const itemPath = `${path}/${id}`;
    const gone = Object.keys(other).filter((name) => !(name in record));
    let response = created;
    if (way === 1) response = await client.put(itemPath, body);
    // A merge patch adds to attributes, so the old ones go first.
    if (way === 2) {
      const nulls = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'null']));
      const old = Object.keys(table).filter((name) => table[name]?.kind === 'attributes');
      await client.patch(itemPath, objectOf(nulls(old)), ofType(MERGE_PATCH));
      const removed = nulls(gone.filter((name) => !old.includes(name)));
      response = await client.patch(itemPath, objectOf({ ...record, ...removed }), ofType(MERGE_PATCH));
    }
    if (way === 3) {
      const add = Object.entries(record).map(([name, json]) => `{"op":"add","path":"/${name}","value":${json}}`);
      const remove = gone.map((name) => `{"op":"remove","path":"/${name}"}`);
      response = await client.patch(itemPath, `[${[...add, ...remove].join()}]`, ofType(JSON_PATCH));
    }
    this.expectSame(`the response to way ${way}`, id, record, response);
    this.expectSame('GET', id, record, await client.get(itemPath));
  }

  private expectSame(how: string, id: number, record: Written, { status, text }: HttpResponse): void {
    if (status >= 500) this.serverErrors++;
    const value = JSON.parse(text);
    if (!isDeepStrictEqual(value, { id, ...meaningOf(record) })) this.report(how, record, text);
  }

  private report(how: string, record: Written, got: string): void {
    this.changes.push(`${this.store}, ${how}: ${got.slice(0, 600)} instead of ${objectOf(record).slice(0, 600)}`);
  }

  /** Reads all records of this run from the list, NDJSON and CSV. */
  private async compare(plural: Plural, ids: ReadonlyMap<number, Written>, hasRows: boolean): Promise<void> {
    const first = Math.min(...ids.keys());
    const filter = `/v1/${plural}?id.gte=${first}&limit=1000`;
    const page = await this.client().get(filter);
    const lines = await this.client().get(filter, { headers: { Accept: NDJSON } });
    const csv = await this.client().get(filter, { headers: { Accept: CSV } });
    for (const { status } of [page, lines, csv]) if (status >= 500) this.serverErrors++;
    const listed = new Map<number, unknown>(page.json.map((one: { id: number }) => [one.id, one]));
    const exported = new Map<number, unknown>(
      lines.text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => [JSON.parse(line).id, JSON.parse(line)]),
    );
    const rows: Record<string, string>[] = parse(csv.text, { columns: true, record_delimiter: '\r\n' });
    const cells = new Map(rows.map((row) => [Number(row['id']), row]));
    for (const [id, record] of ids) {
      this.trips++;
      const meaning = meaningOf(record);
      for (const [how, found] of [
        ['list', listed],
        ['NDJSON', exported],
      ] as const)
        if (!isDeepStrictEqual(found.get(id), { id, ...meaning }))
          this.report(how, record, JSON.stringify(found.get(id)) ?? 'nothing');
      const row = cells.get(id);
      if (hasRows) continue;
      const expected = Object.fromEntries(Object.entries(meaning).filter(([, value]) => value !== ''));
      if (!row || !isDeepStrictEqual(meaningOfRow(row, plural), expected))
        this.report('CSV', record, JSON.stringify(row) ?? 'nothing');
    }
  }

  /** Imports what was exported, with its ids: nothing changes, with either form of the price. */
  private async sendBack(plural: Plural, first: number, hasRows: boolean): Promise<void> {
    const names = Object.keys(RECORD_TABLES[plural].entity).join();
    const columns = columnsOf(plural).map(nameOf).join();
    const files = [
      [NDJSON, `id,version,updatedAt,${names}`],
      ...(hasRows
        ? []
        : [CSV, CSV].map((type, at) => [type, `id,version,${at === 0 ? columns : inMajorUnit(columns)}`])),
    ] as [type: string, fields: string][];
    for (const [type, fields] of files) {
      const path = `/v1/${plural}?id.gte=${first}&fields=${fields}`;
      const { text: file } = await this.client().get(path, { headers: { Accept: type } });
      for (const existing of ['merge', 'replace']) {
        const { text } = await this.client().post(
          `/v1/${plural}/imports?match=id&existing=${existing}`,
          file,
          ofType(type),
        );
        const changed = text.split('\n').filter((line) => line !== '' && !line.endsWith(',"unchanged":true}'));
        for (const line of changed) this.changes.push(`${this.store}, ${type} sent back by ${existing}: ${line}`);
      }
    }
  }
}

interface Column {
  readonly name: string;
  readonly member?: string;
  readonly field: Field;
}

/** The columns of CSV, in another order than the fields. */
function columnsOf(plural: Plural): Column[] {
  return Object.entries<Field>(RECORD_TABLES[plural].entity)
    .flatMap(([name, field]): Column[] =>
      field.kind === 'object'
        ? Object.entries(field.fields).map(([member, inner]) => ({ name, member, field: inner }))
        : [{ name, field }],
    )
    .toReversed();
}

const nameOf = ({ name, member }: Column) => (member ? `${name}.${member}` : name);
const inMajorUnit = (columns: string) => columns.replace('price.amount', 'price.decimal');

/** CSV of records. It takes an integer only as digits. */
function csvOf(plural: Plural, records: readonly Written[]): string {
  const columns = columnsOf(plural);
  const header = columns.map(nameOf).join();
  const rows = records.map((record) =>
    columns.map(({ name, member, field }) => {
      const json = record[name];
      if (json === undefined) return '';
      return member ? cellOf(field, JSON.stringify(JSON.parse(json)[member])) : cellOf(field, json);
    }),
  );
  return `${header}\r\n${rows.map((row) => `${row.join()}\r\n`).join('')}`;
}

function cellOf(field: Field, json: string | undefined): string {
  if (json === undefined) return '';
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const value = JSON.parse(json);
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return quoted(value);
  const isText = field.kind === 'list' && field.of.kind === 'text' && field.separator !== undefined;
  return quoted(isText ? value.join(field.separator) : json);
}
