import type { IdRange } from '../../../application/records/block-scan.js';
import { decidingWords, soughtText } from '../../../application/search/tokenizer.js';
import { MAX_ID } from '../../../domain/record.js';
import { BLOCK_IDS, IS_LIVE, longTextHas } from './columns.js';
import type { Parameters } from './filter.js';

/** The ids whose rows are read one by one at first: if a word is common, a page is found among them. */
const NEAR_IDS = 256;

/** Of how many blocks the index of words is then read at once, until there are enough rows. */
const STEPS = [1, 4, 16, 'ALL'] as const;

/** The ids that one statement of a list searches, and those that one of a count does, which reads every row it finds. */
export const LISTED_IDS = 64 * BLOCK_IDS;
export const COUNTED_IDS = 16 * BLOCK_IDS;

/** What stands in a text for the number of a block. No word has this character. */
const BLOCK = '#';

export interface Search {
  readonly words: readonly string[];
  /** The ids among which is searched. */
  readonly range: IdRange;
  /** If the first rows by id are enough: how many, as a term, and whether ids descend. Absent: all are needed. */
  readonly first?: { readonly count: string; readonly descending: boolean } | undefined;
}

/**
 * Returns the rows that have all words, as a source of a statement. The server does not know how rare
 * a word is, so the statement tells it how to read. It finds the blocks that have records one by one, and makes one query
 * of some of them, so that it reads the index of words once for these. Its values are read from `given`, because no plan
 * depends on them: so the server keeps the plan of a prepared statement.
 * @param conditions on the rows, besides the words
 */
export function searchSource(
  table: string,
  conditions: readonly string[],
  { words, range, first }: Search,
  parameters: Parameters,
): string {
  const where = [IS_LIVE, ...conditions].join(' AND ');
  const high = Math.min(range.high, MAX_ID);
  if (range.low > high) return `(SELECT * FROM ${table} WHERE ${where} AND FALSE) AS found`;
  const deciding = decidingWords(words);
  const given = `given AS MATERIALIZED (SELECT ${parameters.add(range.low)}::bigint AS low,
    ${parameters.add(high)}::bigint AS high, ${parameters.add(queryText(deciding))}::text AS query,
    ${parameters.add(deciding.map(soughtText))}::text[] AS texts, ${first?.count ?? 'NULL'} AS count)`;
  const rows = { table, where };
  const parts = first ? firstRows(rows, first.descending) : allRows(rows);
  return `(WITH RECURSIVE ${[given, ...parts].join(',\n')}) AS found`;
}

/** The condition on a row that it has all words. No index serves it. */
export function wordsCondition(words: readonly string[], parameters: Parameters): string {
  const deciding = decidingWords(words);
  const query = `replace(${parameters.add(queryText(deciding))}::text, '${BLOCK}', (id / ${BLOCK_IDS})::text)::tsquery`;
  return `(words @@ ${query} OR ${longTextHas(`${parameters.add(deciding.map(soughtText))}::text[]`)})`;
}

/** The words of a query as the text of a `tsquery`, with {@link BLOCK} in the place of a block. */
function queryText(words: readonly string[]): string {
  return `(${words.map((word) => `'${BLOCK}.${word}':*`).join(' & ')})`;
}

interface Rows {
  readonly table: string;
  readonly where: string;
}

/** The lowest and the highest of some ids, as terms. */
type Ends = readonly [low: string, high: string];

const HAS_TEXTS = longTextHas('(SELECT texts FROM given)');

/** The ids among which is searched. */
const GIVEN: Ends = ['(SELECT low FROM given)', '(SELECT high FROM given)'];

/** The parts of a statement of all rows. */
function allRows(rows: Rows): string[] {
  return [
    blocksIn(rows, GIVEN, false),
    `query AS MATERIALIZED (${queryIn('blocks')}) ${indexedRows(rows, 'query', GIVEN)}`,
  ];
}

/**
 * The parts of a statement of the first rows. Each step is done only if those before did not find enough: the server
 * does not begin what has a condition that is false for all rows. OFFSET 0 makes it read the next ids in the first step,
 * and the index of words in the others.
 */
function firstRows(rows: Rows, descending: boolean): string[] {
  const count = '(SELECT count FROM given)';
  const [low, high] = GIVEN;
  const direction = descending ? ' DESC' : '';
  const order = `ORDER BY id${direction}`;
  const from = (distance: number) => `(SELECT id ${descending ? '-' : '+'} ${distance} FROM start)`;
  const near: Ends = descending ? [from(NEAR_IDS - 1), from(0)] : [from(0), from(NEAR_IDS - 1)];
  const further: Ends = descending ? [low, from(NEAR_IDS)] : [from(NEAR_IDS), high];
  const nearBlocks = near.map((id) => `(${id} / ${BLOCK_IDS})`).join(', ');
  const parts = [
    `start AS MATERIALIZED (${firstId(rows, GIVEN, descending)})`,
    `query0 AS MATERIALIZED (${queryIn(`(VALUES ${nearBlocks}) AS near(block)`)})`,
    `step0 AS MATERIALIZED (
      SELECT * FROM (SELECT * FROM ${rows.table} WHERE ${IS_LIVE} AND ${isAmong(near)} ${order} OFFSET 0) AS near
      WHERE ${rows.where} AND ${isAmong(GIVEN)} AND (words @@ (SELECT query FROM query0) OR ${HAS_TEXTS})
      ${order} LIMIT ${count})`,
    blocksIn(rows, further, descending),
  ];
  const steps = ['step0'];
  let offset = 0;
  for (const size of STEPS) {
    const [step, query] = [`step${steps.length}`, `query${steps.length}`];
    const found = steps.map((before) => `(SELECT count(*) FROM ${before})`).join(' + ');
    const some = `(SELECT block FROM blocks WHERE block IS NOT NULL ORDER BY block${direction}
      OFFSET ${offset} LIMIT ${size}) AS step_blocks`;
    parts.push(
      `${query} AS MATERIALIZED (${queryIn(some)})`,
      `${step} AS MATERIALIZED (
        SELECT * FROM (${indexedRows(rows, query, further)} AND ${found} < ${count} OFFSET 0) AS ${step}
        ${order} LIMIT ${count})`,
    );
    steps.push(step);
    offset += Number(size);
  }
  const all = steps.map((step) => `SELECT * FROM ${step}`).join(' UNION ALL ');
  return [...parts.slice(0, -1), `${parts.at(-1)}\n${all}`];
}

function isAmong([low, high]: Ends, id = 'id'): string {
  return `${id} BETWEEN ${low} AND ${high}`;
}

/** The statement of the first id of a record. */
function firstId({ table }: Rows, ends: Ends, descending: boolean): string {
  return `SELECT id FROM ${table} WHERE ${IS_LIVE} AND ${isAmong(ends)} ORDER BY id${descending ? ' DESC' : ''} LIMIT 1`;
}

/** The numbers of the blocks that have records; the last one is null. */
function blocksIn(rows: Rows, ends: Ends, descending: boolean): string {
  const [low, high] = ends;
  const beyond: Ends = descending ? [low, `block * ${BLOCK_IDS} - 1`] : [`(block + 1) * ${BLOCK_IDS}`, high];
  return `blocks(block) AS (SELECT (${firstId(rows, ends, descending)}) / ${BLOCK_IDS}
    UNION ALL SELECT (${firstId(rows, beyond, descending)}) / ${BLOCK_IDS} FROM blocks WHERE block IS NOT NULL)`;
}

/** The statement of the query of some blocks, and of the lowest and the highest of their ids. */
function queryIn(blocks: string): string {
  return `SELECT string_agg(replace((SELECT query FROM given), '${BLOCK}', block::text), '|')::tsquery AS query,
    min(block) * ${BLOCK_IDS} AS low, max(block) * ${BLOCK_IDS} + ${BLOCK_IDS - 1} AS high FROM ${blocks}`;
}

/** The statement of the rows that the index of words has, and of those with too many words. There is no index on `id + 0`. */
function indexedRows({ table, where }: Rows, query: string, ends: Ends): string {
  const of = (column: string) => `(SELECT ${column} FROM ${query})`;
  return `SELECT * FROM ${table} WHERE ${where} AND ${isAmong(ends, 'id + 0')}
    AND (words @@ ${of('query')} OR (${HAS_TEXTS} AND ${isAmong([of('low'), of('high')])}))`;
}
