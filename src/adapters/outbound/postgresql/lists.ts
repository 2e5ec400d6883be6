import {
  BY_ID,
  type Facet,
  type FacetCount,
  type FacetField,
  type FacetQuery,
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type RecordTable,
  type SortOrder,
} from '../../../application/ports/list-query.js';
import {
  type Blocks,
  countByBlocks,
  type IdRange,
  idRange,
  isAscendingRead,
  listByBlocks,
} from '../../../application/records/block-scan.js';
import { FacetTop } from '../../../application/records/facets.js';
import { isIndexed, listIndexes } from '../../../application/records/list-indexes.js';
import { specOf } from '../../../application/records/query-semantics.js';
import type { StoredRecord } from '../../../application/records/record-json.js';
import type { Id, Versioned } from '../../../domain/record.js';
import type { Task } from '../../../shared/task-scheduler.js';
import { columnOf, orderBy, recordOf, scanOrder, valuesTable } from '../sql/keyset.js';
import { documentColumnOf, IS_LIVE } from './columns.js';
import { beyondPosition, comparison, filterConditions, isStorable, Parameters } from './filter.js';
import { COUNTED_IDS, LISTED_IDS, searchSource, wordsCondition } from './search.js';
import { type PostgresqlStore, prepared, type Statement } from './store.js';

/** The statements of lists that each table may name. */
const MAX_NAMED = 20;

/** What one statement reads of a list or a count. */
export interface Part extends Pick<ListQuery, 'filters' | 'order' | 'from'> {
  /** The ids among which the index of words is searched. Absent: the words of each row that is read are compared. */
  readonly range?: IdRange | undefined;
}

type Query = Pick<ListQuery, 'filters' | 'order' | 'from' | 'task'>;

/** A statement and the values of its parameters. */
interface Sql {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Where a statement reads the rows of a part.
 * @param count the term of how many rows are enough; absent: all are needed
 */
function sourceOf(table: RecordTable, part: Part, parameters: Parameters, count?: string): string {
  const { filters, order, from, range } = part;
  const words = filters.flatMap((filter) => (filter.operator === 'search' ? filter.words : []));
  const isById = order[0]?.field === 'id';
  const beyondFrom =
    from && from.values.length > 0 && !(range && isById)
      ? [beyondPosition(scanOrder(table, part), from, parameters)]
      : [];
  // The ids of a list's values are found in the order of a list by id, so they begin at its position too.
  const conditions = filterConditions(table, filters, parameters, isById ? beyondFrom : undefined);
  conditions.push(...beyondFrom);
  if (!range) {
    if (words.length > 0) conditions.push(wordsCondition(words, parameters));
    return `${table.name} WHERE ${[IS_LIVE, ...conditions].join(' AND ')}`;
  }
  const beyond = idRange({ filters: [], order, ...(from && { from }) });
  const ids = { low: Math.max(range.low, beyond.low), high: Math.min(range.high, beyond.high) };
  const first =
    count !== undefined && isById
      ? { count, descending: !isAscendingRead({ order, ...(from && { from }) }) }
      : undefined;
  return searchSource(table.name, conditions, { words, range: ids, first }, parameters);
}

/** A row of a page. The fields are null if they have no place in the page. */
type PageRow = [...metadata: [Id, number, number, number], fields: string | null];

/**
 * Returns the statement of the first rows of a part.
 * @param bytes that the rows may have together, but for the last one
 * @param isFast whether to expect that each row has at most its share of these, which costs less
 */
export function pageStatement(table: RecordTable, part: Part, count: number, bytes: number, isFast: boolean): Sql {
  const parameters = new Parameters();
  // The server chooses the plan of a list by its limit, that of a search by the form of the statement alone.
  const limit = part.range ? `${parameters.add(count)}::bigint` : `${count}`;
  const source = sourceOf(table, part, parameters, limit);
  const order = orderBy(scanOrder(table, part));
  const first = `${source} ORDER BY ${valueless(table, part)}${order} LIMIT ${limit}`;
  const size = 'octet_length(fields)';
  const rows = (fits: string, from: string) =>
    `SELECT id, version, created_at, updated_at, CASE WHEN ${fits} THEN fields END FROM ${from}`;
  if (isFast) {
    const share = parameters.add(Math.floor(bytes / count));
    return { text: rows(`${size} <= ${share}`, first), values: parameters.values };
  }
  const before = `sum(${size}) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) - ${size}`;
  const text = rows(`${before} < ${parameters.add(bytes)}`, `(SELECT * FROM ${first}) AS page ORDER BY ${order}`);
  return { text, values: parameters.values };
}

/** The columns that are null in all rows of a list by id, as terms before its order: then their index has this order. */
function valueless(table: RecordTable, { filters, order, from }: Part): string {
  if (order[0]?.field !== 'id') return '';
  const direction = isAscendingRead({ order, ...(from && { from }) }) ? '' : ' DESC';
  const missing = filters.filter((filter) => {
    if (filter.operator !== 'exists' || filter.value) return false;
    const { type, isList } = specOf(table, filter.field);
    return !isList && type !== 'presence';
  });
  return missing.map(({ field }) => `${columnOf(field)}${direction}, `).join('');
}

/** The ids among which a search looks that is not read block by block; undefined if there is none. */
function searchedRange({ filters }: Pick<ListQuery, 'filters'>): IdRange | undefined {
  const isSearch = filters.some(({ operator }) => operator === 'search');
  return isSearch ? idRange({ filters, order: [] }) : undefined;
}

/** Runs a statement of a list. */
type Run = <Row extends unknown[]>(statement: Statement, values: readonly unknown[]) => Promise<Row[]>;

/** The lists and the counts of a table. */
export class PostgresqlLists<Fields> {
  private readonly named = new Map<string, Statement>();
  private readonly indexes: readonly SortOrder[];
  private readonly blocks: Blocks;

  constructor(
    private readonly store: PostgresqlStore,
    private readonly table: RecordTable,
  ) {
    this.indexes = listIndexes(table);
    const edge = (order: 'ASC' | 'DESC') =>
      prepared(`SELECT id FROM ${table.name} WHERE ${IS_LIVE} ORDER BY id ${order} LIMIT 1`);
    const edges = { first: edge('ASC'), last: edge('DESC') };
    const findEdge = async (side: 'first' | 'last') => (await store.run<[Id]>(edges[side], []))[0]?.[0];
    this.blocks = { unit: LISTED_IDS, findEdge };
  }

  async list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const { task } = query;
    if (this.isServed(query)) return this.read(query, (...call) => this.store.run(...call));
    const search: Run = (statement, values) => this.store.search(statement, values, task);
    return listByBlocks(query, this.blocks, this.store.budget, (rest, range = searchedRange(rest)) =>
      this.read(rest, search, range),
    );
  }

  /** Whether an index leads to the records, so that the query takes no long. There is none on the absence of a list. */
  private isServed(query: ListQuery): boolean {
    const isMissingList = ({ operator, field }: Filter) =>
      operator === 'exists' && specOf(this.table, field).isList === true;
    return isIndexed(this.table, query, this.indexes) && !query.filters.some(isMissingList);
  }

  private async read(query: ListQuery, run: Run, range?: IdRange): Promise<ListPage<StoredRecord<Fields>>> {
    const { limit, bytes = MAX_PAGE_BYTES, from } = query;
    const rows = await this.rows({ ...query, range }, limit + 1, bytes, run);
    const records: StoredRecord<Fields>[] = [];
    for (const [id, version, createdAt, updatedAt, fields] of rows.slice(0, limit))
      if (fields !== null) records.push(recordOf([id, version, createdAt, updatedAt, fields]));
    const hasMore = records.length < rows.length;
    return { records: from?.side === 'before' ? records.reverse() : records, hasMore };
  }

  private async rows(part: Part, count: number, bytes: number, run: Run): Promise<PageRow[]> {
    for (const isFast of [true, false]) {
      const { text, values } = pageStatement(this.table, part, count, bytes, isFast);
      const rows = await run<PageRow>(this.statementOf(text, part), values);
      if (!isFast || rows.every(([, , , , fields]) => fields !== null)) return rows;
    }
    throw new Error('unreachable');
  }

  /** Names the statements of lists without filters, and of searches by id without others, whose texts are few. */
  private statementOf(text: string, { filters, order }: Query): Statement {
    const known = this.named.get(text);
    if (known) return known;
    const isSearch = order[0]?.field === 'id' && filters.every(({ operator }) => operator === 'search');
    const isFew = filters.length > 0 ? isSearch : this.named.size < MAX_NAMED;
    const statement = isFew ? prepared(text) : { text };
    if (isFew) this.named.set(text, statement);
    return statement;
  }

  count(filters: readonly Filter[], task?: Task, distinct?: string): Promise<number> {
    const query = { filters, order: BY_ID, task };
    // Records of two blocks may share a value.
    if (distinct !== undefined) return this.countPart(query, searchedRange(query), countOf(this.table, distinct));
    const blocks = { ...this.blocks, unit: COUNTED_IDS };
    return countByBlocks(query, blocks, this.store.budget, (range) => this.countPart(query, range));
  }

  private async countPart(query: Query, range?: IdRange, term = 'count(*)'): Promise<number> {
    const parameters = new Parameters();
    const text = `SELECT ${term} FROM ${sourceOf(this.table, { ...query, range }, parameters)}`;
    const statement = this.statementOf(text, query);
    const [[count] = [0]] = await this.store.search<[number]>(statement, parameters.values, query.task);
    return count;
  }

  /** Counts by values in one statement. */
  async facets(query: FacetQuery): Promise<readonly Facet[]> {
    const { filters, task } = query;
    const parameters = new Parameters();
    const part = { filters, order: BY_ID, range: searchedRange(query) };
    const source = sourceOf(this.table, part, parameters);
    const text = facetsStatement(this.table, query, source, parameters);
    const rows = await this.store.search<FacetRow>({ text }, parameters.values, task);
    return query.fields.map((_, at) => {
      const top = new FacetTop(query);
      for (const row of rows) if (row[0] === at) top.add(facetCountOf(row));
      return top.facet();
    });
  }
}

/** The term of the number of rows, of which those with one value in a field count once. */
function countOf(table: RecordTable, distinct: string | undefined): string {
  if (distinct === undefined) return 'count(*)';
  specOf(table, distinct);
  const column = columnOf(distinct);
  return `count(DISTINCT ${column}) + count(*) FILTER (WHERE ${column} IS NULL)`;
}

/** The place of the field in the query; of the value, what is of another type is null. */
type FacetRow = [at: number, text: string | null, number: number | null, boolean: boolean | null, count: number];

/**
 * Returns the statement of the first values of each field behind a place. The server groups the records and keeps the
 * first values, so it sends no others. It reads the matching records once for all fields; the values of all records come
 * from indexes, but for those of attributes.
 * @param source where the records are read that match the filters
 */
function facetsStatement(
  table: RecordTable,
  { fields, filters, limit, prefix, after, distinct }: FacetQuery,
  source: string,
  parameters: Parameters,
): string {
  const count = countOf(table, distinct);
  // The indexes of values do not have the field that records share.
  const isWhole = filters.length === 0 && distinct === undefined;
  const read = distinct === undefined ? [] : [columnOf(distinct)];
  const behind = after ? `WHERE ${isBehind(after, parameters)}` : '';
  const parts = fields.map((field, at) => {
    const values = { column: `v${at}`, prefix, count };
    const isRead = field.key !== undefined || !isWhole;
    if (isRead) read.push(`${termOf(field, parameters)} AS v${at}`);
    const counted = isRead
      ? readValues(table, field, values, parameters)
      : indexedValues(table, field, values, parameters);
    return `(SELECT ${at}, text, number, boolean, count FROM (${counted}) AS counted ${behind}
      ORDER BY count DESC, text, number, boolean LIMIT ${limit + 1})`;
  });
  const matching = read.length > 0 ? `WITH matching AS (SELECT ${read} FROM ${source})` : '';
  return `${matching} ${parts.join(' UNION ALL ')}`;
}

function termOf({ field, key }: FacetField, parameters: Parameters): string {
  if (key === undefined) return columnOf(field);
  // No record has such a key, and the server takes no such text.
  if (!isStorable(key)) return 'NULL::jsonb';
  return `${documentColumnOf(field)} -> ${parameters.add(key)}`;
}

/** A field whose values are counted, as a column of `matching`. */
interface Values {
  readonly column: string;
  readonly prefix: string | undefined;
  /** The term of a count. */
  readonly count: string;
}

/** The statement of the values of a field in the matching records, each with its count. */
function readValues(table: RecordTable, { field, key }: FacetField, values: Values, parameters: Parameters): string {
  const { column, prefix, count } = values;
  if (key === undefined)
    return specOf(table, field).isList
      ? countedTexts({ ...values, column: 'value' }, `matching, unnest(${column}) AS value`, parameters)
      : countedTexts(values, 'matching', parameters);
  const typed = (type: string, value: string) => `CASE jsonb_typeof(${column}) WHEN '${type}' THEN ${value} END`;
  const text = `${typed('string', `${column} #>> '{}'`)} COLLATE "C"`;
  return `SELECT ${text} AS text, ${typed('number', `${column}::double precision`)} AS number,
    ${typed('boolean', `${column}::boolean`)} AS boolean, count
    FROM (SELECT ${column}, ${count} AS count FROM matching WHERE ${column} IS NOT NULL GROUP BY ${column}) AS grouped
    WHERE ${begins(text, prefix, parameters)}`;
}

/** The statement of the values of a field in all records, each with its count. */
function indexedValues(table: RecordTable, { field }: FacetField, values: Values, parameters: Parameters): string {
  return specOf(table, field).isList
    ? countedTexts({ ...values, column: 'value' }, valuesTable(table.name), parameters, `field = '${field}'`)
    : countedTexts({ ...values, column: columnOf(field) }, table.name, parameters, IS_LIVE);
}

function countedTexts(
  { column, prefix, count }: Values,
  from: string,
  parameters: Parameters,
  condition = 'TRUE',
): string {
  return `SELECT ${column} AS text, NULL::double precision AS number, NULL::boolean AS boolean, ${count} AS count
    FROM ${from} WHERE ${condition} AND ${column} IS NOT NULL AND ${begins(column, prefix, parameters)} GROUP BY ${column}`;
}

function begins(text: string, prefix: string | undefined, parameters: Parameters): string {
  return prefix === undefined ? 'TRUE' : comparison(text, 'prefix', prefix, parameters);
}

function isBehind({ value, count }: FacetCount, parameters: Parameters): string {
  const than = parameters.add(count);
  const type = typeof value;
  const rest =
    type === 'string'
      ? `(text IS NULL OR ${comparison('text', 'gt', value as string, parameters)})`
      : type === 'number'
        ? `text IS NULL AND (number IS NULL OR number > ${parameters.add(value)})`
        : `text IS NULL AND number IS NULL AND boolean > ${parameters.add(value)}`;
  return `(count < ${than} OR count = ${than} AND ${rest})`;
}

function facetCountOf([, text, number, boolean, count]: FacetRow): FacetCount {
  return { value: text ?? number ?? boolean ?? false, count };
}
