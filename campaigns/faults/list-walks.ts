import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { HttpClient, HttpResponse } from '../../tests/support/http-client.js';
import { linksOf } from '../../tests/support/links.js';
import { TEST_SEED } from '../../tests/support/run-settings.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';

/** A record as it was before the writes began. */
interface Listed {
  readonly id: number;
  readonly name: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Returns whether the writers leave the place of a record in a list alone, by the list's sort fields and filters. */
type Stays = (record: Listed) => boolean;

/** What the writers do to the records that exist when they begin, by the last digit of the id. The others stay. */
const TOUCHED = [1, 2];
const RENAMED = [3];
const DELETED = [4];

const isOf =
  (digits: readonly number[]): Stays =>
  ({ id }) =>
    digits.includes(id % 10);
export const isTouched = isOf(TOUCHED);
export const isRenamed = isOf(RENAMED);
export const isDeleted = isOf(DELETED);

const keepsId: Stays = (record) => !isDeleted(record);
const keepsName: Stays = (record) => keepsId(record) && !isRenamed(record);
const keepsUpdate: Stays = (record) => keepsName(record) && !isTouched(record);

type Order = (one: Listed, other: Listed) => number;

/** By UTF-8 bytes, as the contract says; JavaScript would compare UTF-16 units. */
const byName: Order = (one, other) => Buffer.compare(Buffer.from(one.name), Buffer.from(other.name));
const byId: Order = (one, other) => one.id - other.id;
const byTime =
  (field: 'createdAt' | 'updatedAt'): Order =>
  (one, other) =>
    Date.parse(one[field]) - Date.parse(other[field]);
const reversed =
  (order: Order): Order =>
  (one, other) =>
    order(other, one);
const inTurn =
  (first: Order, second: Order): Order =>
  (one, other) =>
    first(one, other) || second(one, other);

/** A list, the order of its records, and those that have to be in it once. */
interface ListUnderTest {
  readonly query: string;
  readonly order: Order;
  readonly stays: Stays;
}

export const SORTS: readonly ListUnderTest[] = [
  { query: 'sort=id', order: byId, stays: keepsId },
  { query: 'sort=-id', order: reversed(byId), stays: keepsId },
  { query: 'sort=name', order: inTurn(byName, byId), stays: keepsName },
  { query: 'sort=-createdAt', order: inTurn(reversed(byTime('createdAt')), byId), stays: keepsId },
  { query: 'sort=updatedAt', order: inTurn(byTime('updatedAt'), byId), stays: keepsUpdate },
  { query: 'sort=name,-id', order: inTurn(byName, reversed(byId)), stays: keepsName },
];

export const FILTERED: readonly ListUnderTest[] = [
  { query: 'q=oak', order: byId, stays: keepsName },
  { query: 'q=oak&sort=-name', order: inTurn(reversed(byName), byId), stays: keepsName },
  { query: 'price.currency=SEK', order: byId, stays: keepsId },
];

/** How often the page size changes between two pages. */
const OTHER_LIMIT_PART = 0.1;

/** What was seen of lists. */
export class Seen {
  readonly random = new SeededRandom(TEST_SEED);
  pages = 0;
  /** Those that run. */
  exports = 0;
  records = 0;
  repeated = 0;
  skipped = 0;
  readonly problems: string[] = [];

  /** @param expected the ids that stay, in their order; `all` the ids seen, in the order of the list */
  compare(what: string, expected: readonly number[], all: readonly number[], mayMove: (id: number) => boolean) {
    const wanted = new Set(expected);
    const found = new Set<number>();
    let repeated = 0;
    for (const id of all) {
      if (found.has(id) && !mayMove(id)) repeated++;
      found.add(id);
    }
    const skipped = expected.filter((id) => !found.has(id)).length;
    const ordered = all.filter((id) => wanted.has(id));
    this.repeated += repeated;
    this.skipped += skipped;
    this.records += all.length;
    const isOrdered = ordered.length === expected.length && ordered.every((id, at) => id === expected[at]);
    if (repeated + skipped > 0 || !isOrdered)
      this.problems.push(`${what}: ${repeated} repeated, ${skipped} skipped, ordered: ${isOrdered}`);
  }
}

/** Reads the pages of a list along one relation of `Link`. @returns them in the list's order, and the last one's links */
async function follow(
  client: HttpClient,
  path: string,
  relation: 'next' | 'prev',
  limit: number,
  seen: Seen,
): Promise<[pages: number[][], last: Record<string, string>]> {
  const pages: number[][] = [];
  for (let at = path; ; ) {
    const page = await insist(() => client.get(at));
    seen.pages++;
    const ids = page.json.map(({ id }: { id: number }) => id);
    if (relation === 'next') pages.push(ids);
    else pages.unshift(ids);
    const links = linksOf(page.headers['link']);
    const more = links[relation];
    if (!more) return [pages, links];
    const other = seen.random.chance(OTHER_LIMIT_PART) ? 1 + seen.random.below(limit) : limit;
    at = more.replace(/\blimit=\d+/, `limit=${other}`);
  }
}

/** Reads a list to its end, and from there back to its begin. */
export async function walk(
  client: HttpClient,
  list: ListUnderTest,
  baseline: Baseline,
  limit: number,
  seen: Seen,
): Promise<void> {
  const { query, stays } = list;
  const expected = baseline.expected(list);
  const mayMove = baseline.mayMove(stays);
  const path = `/products?${query}&fields=id&limit=${limit}`;
  const [forwards, { prev }] = await follow(client, path, 'next', limit, seen);
  seen.compare(`${query} forwards`, expected, forwards.flat(), mayMove);
  if (!prev) throw new Error(`${query} has one page only`);
  const [backwards] = await follow(client, prev, 'prev', limit, seen);
  // The way back begins before the last page.
  const all = [...backwards.flat(), ...(forwards.at(-1) ?? [])];
  seen.compare(`${query} backwards`, expected, all, mayMove);
}

/** Exports a list while others write. */
export async function exportAll(
  client: HttpClient,
  list: ListUnderTest,
  baseline: Baseline,
  seen: Seen,
): Promise<void> {
  seen.exports++;
  const ids = (await exported(client, `${list.query}&fields=id`)).map(({ id }) => id);
  seen.exports--;
  seen.compare(`${list.query} exported`, baseline.expected(list), ids, baseline.mayMove(list.stays));
}

/** Repeats a request that a slow machine's service refuses with 503. */
export async function insist<Response extends Pick<HttpResponse, 'status' | 'text'>>(
  send: () => Promise<Response>,
  expected = 200,
): Promise<Response> {
  for (;;) {
    const response = await send();
    if (response.status !== 503) {
      expect(response.status, response.text.slice(0, 300)).to.equal(expected);
      return response;
    }
    await sleep(100);
  }
}

async function exported(client: HttpClient, query: string): Promise<Listed[]> {
  const headers = { Accept: 'application/x-ndjson' };
  const { text } = await insist(() => client.get(`/products?${query}`, { headers }).catch(asRefusal));
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The service cuts a stream if its store fails meanwhile. */
function asRefusal(error: NodeJS.ErrnoException): { readonly status: 503; readonly text: string } {
  if (error.code !== 'ECONNRESET') throw error;
  return { status: 503, text: '' };
}

/** The records before the writes begin. */
export class Baseline {
  private readonly byId: ReadonlyMap<number, Listed>;

  private constructor(
    readonly records: readonly Listed[],
    private readonly filtered: ReadonlyMap<string, readonly Listed[]>,
  ) {
    this.byId = new Map(records.map((record) => [record.id, record]));
  }

  static async read(client: HttpClient): Promise<Baseline> {
    const fields = 'fields=id,name,createdAt,updatedAt';
    const filters = await Promise.all(
      FILTERED.map(async ({ query }) => [query, await exported(client, `${query}&${fields}`)] as const),
    );
    return new Baseline(await exported(client, fields), new Map(filters));
  }

  /** The ids that a list shows once whatever the writers do, in their order. */
  expected({ query, order, stays }: ListUnderTest): number[] {
    const records = this.filtered.get(query) ?? this.records;
    return records
      .filter(stays)
      .sort(order)
      .map(({ id }) => id);
  }

  /** Whether a writer may move a record within a list. Records that the writers create stay as they are. */
  mayMove(stays: Stays): (id: number) => boolean {
    return (id) => {
      const record = this.byId.get(id);
      return record !== undefined && !stays(record);
    };
  }
}
