import { expect } from 'chai';
import fc from 'fast-check';
import { QueryBudget } from '#src/application/maintenance/query-budget.js';
import type { Repository } from '#src/application/ports/repository.js';
import type { ListPage, ListQuery, Position } from '#src/application/records/list-query.js';
import { positionOf } from '#src/application/records/query-semantics.js';
import type { Repositories } from '#src/composition/tables.js';
import { AppError } from '#src/domain/errors.js';
import type { Versioned } from '#src/domain/record.js';
import { UnevenClock } from '../support/fakes.js';
import { ENDLESS, PRODUCTS, USERS } from '../support/tables.js';
import { type LargeScenario, largeScenarios } from './large-scenarios.js';
import { type Drawn, PRODUCT, type Scenario, scenarios, USER, type Write } from './query-scenarios.js';
import { beyondAll } from './repository/expected.js';
import type { OpenRepository } from './repository.contract.js';

/** Runs to its end within the time-out of a test; a failure needs longer, to be shrunk to its smallest. */
const TIMEOUT_MS = 300_000;

/** In milliseconds; a database is told it too, which takes no more than 31 bits. */
const FOREVER = 2 ** 31 - 1_000;

/** So many pages of a list of many records are read. */
const FEW_PAGES = 4;

export interface QueryProperty {
  /** The first is compared with each other. */
  readonly stores: Readonly<Record<string, (budget: QueryBudget) => Promise<OpenRepository>>>;
  readonly letters: readonly string[];
  readonly numRuns: number;
  /** Of those with many records. */
  readonly numLargeRuns: number;
}

/** Whatever is written and asked, each store answers alike, to the byte. */
export function queryProperty({ stores, letters, numRuns, numLargeRuns }: QueryProperty): void {
  const expectAlike = async (
    newBudget: () => QueryBudget,
    transcriptOf: (of: Repositories) => Promise<string[]>,
  ) => {
    const reported: [name: string, transcript: string[]][] = [];
    for (const [name, open] of Object.entries(stores)) {
      const opened = await open(newBudget());
      try {
        reported.push([name, await transcriptOf(opened)]);
      } finally {
        await opened.close();
      }
    }
    for (const [name, lines] of reported) expectSame(name, lines, reported[0]?.[1] ?? []);
  };

  const isAlike = <Fields>(
    resource: string,
    drawn: Drawn<Fields>,
    of: (repositories: Repositories) => Repository<Fields>,
  ) => {
    it(`is answered alike, of ${resource}`, async () => {
      const property = fc.asyncProperty(scenarios(drawn, letters), (scenario) =>
        expectAlike(
          () => ENDLESS,
          (opened) => transcript(of(opened), scenario),
        ),
      );
      await fc.assert(property, { numRuns });
    }).timeout(TIMEOUT_MS);

    it(`is answered alike, of many ${resource} that tie, read in pieces of any size`, async () => {
      const property = fc.asyncProperty(largeScenarios(drawn, letters), (scenario) =>
        expectAlike(
          () => new QueryBudget(new UnevenClock(scenario.steps), FOREVER),
          (opened) => largeTranscript(of(opened), scenario),
        ),
      );
      await fc.assert(property, { numRuns: numLargeRuns });
    }).timeout(TIMEOUT_MS);
  };

  describe(`any query of any data, on ${Object.keys(stores).join(', ')}`, () => {
    isAlike('products', PRODUCT(PRODUCTS.fields), ({ products }) => products);
    isAlike('users', USER(USERS.fields), ({ users }) => users);
  });
}

/** Of long answers only where they part: a library would compare them for minutes. */
function expectSame(name: string, lines: readonly string[], others: readonly string[]): void {
  for (const [at, line] of lines.entries()) {
    const other = others[at] ?? '';
    if (line === other) continue;
    let same = 0;
    while (line[same] === other[same]) same++;
    const part = (text: string) => text.slice(Math.max(0, same - 100), same + 200);
    throw new Error(
      `${name} answers otherwise to ${line.slice(0, 800)}\n${part(line)}\nand not\n${part(other)}`,
    );
  }
  expect(lines, name).to.have.length(others.length);
}

/** Everything that the store said, a line an answer. */
async function transcript<Fields>(
  repository: Repository<Fields>,
  { writes, queries }: Scenario<Fields>,
): Promise<string[]> {
  const lines: string[] = [];
  for (const one of writes) lines.push(JSON.stringify([one.write, one.id, await written(repository, one)]));
  for (const query of queries) {
    const there = await scanned(repository, query);
    const back = await scanned(repository, { ...query, from: beyondAll(query.order, 'before') });
    const all = there.flatMap(({ records }) => records);
    expect(back.flatMap(({ records }) => records).toReversed(), 'the way back').to.deep.equal(all);
    expect(await repository.count(query.filters), 'the count').to.equal(all.length);
    lines.push(JSON.stringify({ query, there, back }));
  }
  return lines;
}

async function largeTranscript<Fields>(
  repository: Repository<Fields>,
  { records, queries }: LargeScenario<Fields>,
): Promise<string[]> {
  const lines = [JSON.stringify(await repository.insertAll(records))];
  for (const query of queries) {
    const pages = await scanned(repository, query, FEW_PAGES);
    lines.push(JSON.stringify({ query, pages, count: await repository.count(query.filters) }));
  }
  return lines;
}

async function written<Fields>(repository: Repository<Fields>, write: Write<Fields>): Promise<unknown> {
  const there = await repository.find(write.id);
  const expected = (there?.version ?? 1) + (write.stale ? 1 : 0);
  if (write.write === 'remove') return repository.remove(write.id, expected, 0);
  const version = write.write === 'insert' ? 1 : expected + 1;
  const createdAt = there?.createdAt ?? write.at.createdAt;
  const record: Versioned<Fields> = { id: write.id, version, ...write.at, createdAt, fields: write.fields };
  try {
    return await (write.write === 'insert'
      ? repository.insert(record)
      : repository.replace(record, expected));
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.details];
    throw error;
  }
}

interface Page<Fields> {
  /** As they are read: going back, in the other direction. */
  readonly records: readonly Versioned<Fields>[];
  /** Absent where a store need not be sure. */
  readonly hasMore?: boolean;
}

/** The pages from the place of the query on: all of them, or the first few. */
async function scanned<Fields>(
  repository: Repository<Fields>,
  query: ListQuery,
  most = Number.POSITIVE_INFINITY,
): Promise<Page<Fields>[]> {
  const side: Position['side'] = query.from?.side ?? 'after';
  const pages: Page<Fields>[] = [];
  let isEnd = false;
  for (let from = query.from; pages.length < most; ) {
    const page: ListPage<Versioned<Fields>> = await repository.list({ ...query, ...(from && { from }) });
    const { hasMore } = page;
    const records = side === 'after' ? page.records : page.records.toReversed();
    if (isEnd) expect(records, 'beyond the last page').to.deep.equal([]);
    isEnd = !hasMore;
    const isFull = records.length === query.limit;
    pages.push({ records, ...((!isFull || query.filters.length === 0) && { hasMore }) });
    const last = records.at(-1);
    if (!isFull || !last) break;
    from = positionOf(last, query.order, side);
  }
  return pages;
}
