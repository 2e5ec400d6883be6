import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  BY_ID,
  type FacetCount,
  type FacetQuery,
  type Filter,
  type ListPage,
  type ListQuery,
  type Position,
} from '#src/application/ports/list-query.js';
import type { Repository } from '#src/application/ports/repository.js';
import { DistinctLists, type DistinctQuery } from '#src/application/records/distinct-lists.js';
import { facetValues, hasPrefix } from '#src/application/records/facets.js';
import { OrderedLists, QueryBudget } from '#src/application/records/lists.js';
import { positionOf } from '#src/application/records/query-semantics.js';
import type { Repositories } from '#src/composition/tables.js';
import { AppError } from '#src/domain/errors.js';
import { type FieldSpecs, variantFields } from '#src/domain/fields.js';
import type { Versioned } from '#src/domain/record.js';
import { type CreatedStore, type OpenStore, openStore, type TestStoreProvider } from '../stores/provider.js';
import { UnevenClock } from '../support/fakes.js';
import { expectedFinds, searchFor } from '../support/reference-search.js';
import { ENDLESS, PRODUCTS, USERS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { type LargeScenario, largeScenarios } from './large-scenarios.js';
import {
  PRODUCT,
  type ResourceGenerator,
  type Scenario,
  type SearchScenario,
  scenarios,
  searchScenarios,
  USER,
  type Write,
} from './query-scenarios.js';

/** Long enough for fast-check to shrink a failure; a success ends within the usual time-out. */
const TIMEOUT_MS = 300_000;

/** A practically unlimited time budget. Databases receive it as well, and accept at most 31 bits. */
const UNLIMITED_MS = 2 ** 31 - 1_000;

/** Searches come between writes, since a store may prepare its index at the first search. */
const WRITES_BETWEEN_SEARCHES = 15;

/** The number of pages that are read of a list of many records. */
const MAX_PAGES = 4;

export interface QueryProperty {
  /** Each store is compared with the first. */
  readonly stores: readonly TestStoreProvider[];
  readonly letters: readonly string[];
  readonly numRuns: number;
  /** The number of runs with many records. */
  readonly numLargeRuns: number;
}

/**
 * Every store returns the same bytes for any writes and queries, whether it knows already that all words are current and
 * writes feeds of changes, or has to look and writes none.
 */
export function queryProperty({ stores, letters, numRuns, numLargeRuns }: QueryProperty): void {
  /** The stores that a run has emptied for the next one. */
  const emptied = new Map<TestStoreProvider, CreatedStore>();
  let folder = '';
  const openEmpty = async (provider: TestStoreProvider, budget: QueryBudget): Promise<OpenStore> => {
    const store = emptied.get(provider) ?? (await provider.create(mkdtempSync(join(folder, 'store-'))));
    emptied.delete(provider);
    const opened = await openStore(store.settings, budget);
    return {
      ...opened,
      close: async () => {
        await opened.close();
        if (await store.empty?.()) emptied.set(provider, store);
        else await store.remove();
      },
    };
  };

  const expectSameTranscripts = async (
    newBudget: () => QueryBudget,
    hasFeed: boolean,
    transcriptOf: (of: Repositories) => Promise<string[]>,
  ) => {
    const transcripts: [name: string, transcript: string[]][] = [];
    for (const provider of stores) {
      const opened = await openEmpty(provider, newBudget());
      try {
        if (hasFeed) await opened.feedState.turnOn();
        transcripts.push([provider.name, await transcriptOf(opened)]);
      } finally {
        await opened.close();
      }
    }
    for (const [name, lines] of transcripts) expectSame(name, lines, transcripts[0]?.[1] ?? []);
  };

  const testResource = <Fields>(
    resource: string,
    generator: ResourceGenerator<Fields>,
    of: (repositories: Repositories) => Repository<Fields>,
  ) => {
    it(`returns the same results for ${resource}`, async () => {
      const property = fc.asyncProperty(scenarios(generator, letters), fc.boolean(), (scenario, hasFeed) =>
        expectSameTranscripts(
          () => ENDLESS,
          hasFeed,
          (opened) => transcript(of(opened), generator.fields, scenario),
        ),
      );
      await fc.assert(property, { numRuns });
    }).timeout(TIMEOUT_MS);

    it(`returns the same results for many ${resource} with ties, read in slices of any size`, async () => {
      const property = fc.asyncProperty(largeScenarios(generator, letters), fc.boolean(), (scenario, hasFeed) =>
        expectSameTranscripts(
          () => new QueryBudget(new UnevenClock(scenario.steps), UNLIMITED_MS),
          hasFeed,
          (opened) => largeTranscript(of(opened), generator.fields, scenario),
        ),
      );
      await fc.assert(property, { numRuns: numLargeRuns });
    }).timeout(TIMEOUT_MS);
  };

  const testSearches = <Fields extends object>(
    resource: 'products' | 'users',
    generator: ResourceGenerator<Fields>,
    of: (repositories: Repositories) => Repository<Fields>,
  ) => {
    for (const provider of stores)
      it(`finds the ${resource} that the definition of a search finds, on ${provider.name}`, async () => {
        const scenarios = searchScenarios(generator, letters);
        const property = fc.asyncProperty(scenarios, async (scenario) => {
          const opened = await openEmpty(provider, ENDLESS);
          try {
            await expectDefinedFinds(resource, of(opened), scenario);
          } finally {
            await opened.close();
          }
        });
        await fc.assert(property, { numRuns });
      }).timeout(TIMEOUT_MS);
  };

  describe(`any query of any data, on ${stores.map(({ name }) => name).join(', ')}`, () => {
    folder = temporaryFolder();
    after(async () => {
      for (const store of emptied.values()) await store.remove();
    });
    testResource('products', PRODUCT(PRODUCTS.fields), ({ products }) => products);
    testResource('users', USER(USERS.fields), ({ users }) => users);
    testSearches('products', PRODUCT(PRODUCTS.fields), ({ products }) => products);
    testSearches('users', USER(USERS.fields), ({ users }) => users);
  });
}

/** Reports only the first difference of long transcripts, because chai would compare them for minutes. */
export function expectSame(name: string, lines: readonly string[], others: readonly string[]): void {
  for (const [at, line] of lines.entries()) {
    const other = others[at] ?? '';
    if (line === other) continue;
    let same = 0;
    while (line[same] === other[same]) same++;
    const part = (text: string) => text.slice(Math.max(0, same - 100), same + 200);
    throw new Error(`${name} differs in ${line.slice(0, 800)}\n${part(line)}\ninstead of\n${part(other)}`);
  }
  expect(lines, name).to.have.length(others.length);
}

/** All results of the store, one line for each. */
export async function transcript<Fields>(
  repository: Repository<Fields>,
  fields: FieldSpecs,
  { writes, queries }: Scenario<Fields>,
): Promise<string[]> {
  const lists = new OrderedLists(repository, fields);
  const lines: string[] = [];
  for (const one of writes) lines.push(JSON.stringify([one.write, one.id, await apply(repository, one)]));
  for (const { facets, ...query } of queries) {
    const forwards = await readPages(lists, query);
    const backwards = await readPages(lists, { ...query, from: END });
    const all = forwards.flatMap(({ records }) => records);
    expect(backwards.flatMap(({ records }) => records).toReversed(), 'backwards').to.deep.equal(all);
    expect(await repository.count(query.filters), 'the count').to.equal(all.length);
    const counts = facets && (await allFacets(repository, { ...facets, filters: query.filters }));
    lines.push(JSON.stringify({ query, forwards, backwards, facets, counts }));
    for (const distinct of variantFields(fields)) {
      await expectCards(repository, lists, { ...query, distinct, withVariants: true }, all);
      const cards = facets && (await allFacets(repository, { ...facets, filters: query.filters, distinct }));
      if (cards) await expectFacetsOfCards(repository, query.filters, distinct, facets, cards);
      lines.push(JSON.stringify({ query, distinct, cards }));
    }
  }
  return lines;
}

/** @param all the whole list */
async function expectCards<Fields>(
  repository: Repository<Fields>,
  lists: OrderedLists<Fields>,
  query: DistinctQuery,
  all: readonly Versioned<Fields>[],
): Promise<void> {
  const { cards, variants } = cardsOf(all, query.distinct);
  const distinct = new DistinctLists(lists, repository, ENDLESS);
  const forwards = (await readPages(distinct, query)).flatMap(({ records }) => records);
  const backwards = (await readPages(distinct, { ...query, from: END })).flatMap(({ records }) => records);
  const shown = cards.map((record) => [record.id, variants.get(groupIn(record, query.distinct)) ?? 1]);
  const idsWithVariants = forwards.map((record) => [record.id, record.variants]);
  expect(idsWithVariants, `cards of ${JSON.stringify(query)}`).to.deep.equal(shown);
  expect(backwards.toReversed(), 'cards backwards').to.deep.equal(forwards);
  expect(await repository.count(query.filters, undefined, query.distinct), 'cards').to.equal(cards.length);
}

/** The first of each group in the order of a list, and how many records each group has. */
function cardsOf<Fields>(all: readonly Versioned<Fields>[], distinct: string) {
  const variants = new Map<unknown, number>();
  const cards = all.filter((record) => {
    const group = groupIn(record, distinct);
    if (group !== undefined) variants.set(group, (variants.get(group) ?? 0) + 1);
    return group === undefined || variants.get(group) === 1;
  });
  return { cards, variants };
}

function groupIn(record: Versioned<unknown>, distinct: string): unknown {
  return (record.fields as Record<string, unknown>)[distinct];
}

async function expectFacetsOfCards<Fields>(
  repository: Repository<Fields>,
  filters: readonly Filter[],
  distinct: string,
  { fields, prefix }: Pick<FacetQuery, 'fields' | 'prefix'>,
  found: readonly (readonly FacetCount[])[],
): Promise<void> {
  const { records } = await repository.list({ limit: 10_000, filters, order: BY_ID });
  for (const [at, field] of fields.entries())
    for (const { value, count } of found[at] ?? []) {
      expect(hasPrefix(value, prefix), 'the prefix').to.equal(true);
      const having = records.filter((record) => facetValues(record.fields as object, field).includes(value));
      expect(cardsOf(having, distinct).cards.length, `cards under ${JSON.stringify([field, value])}`).to.equal(count);
    }
}

async function largeTranscript<Fields>(
  repository: Repository<Fields>,
  fields: FieldSpecs,
  { records, queries }: LargeScenario<Fields>,
): Promise<string[]> {
  const lists = new OrderedLists(repository, fields);
  const lines = [JSON.stringify(await repository.insertAll(records))];
  for (const { facets, ...query } of queries) {
    const pages = await readPages(lists, query, MAX_PAGES);
    const count = await repository.count(query.filters);
    const counts = facets && (await repository.facets({ ...facets, filters: query.filters }));
    lines.push(JSON.stringify({ query, pages, count, facets, counts }));
    for (const distinct of variantFields(fields)) {
      const cards = new DistinctLists(lists, repository, ENDLESS);
      const pages = await readPages(cards, { ...query, distinct, withVariants: true }, MAX_PAGES);
      const count = await repository.count(query.filters, undefined, distinct);
      const counts = facets && (await repository.facets({ ...facets, filters: query.filters, distinct }));
      lines.push(JSON.stringify({ query, distinct, pages, count, facets, counts }));
    }
  }
  return lines;
}

async function expectDefinedFinds<Fields extends object>(
  resource: 'products' | 'users',
  repository: Repository<Fields>,
  { writes, texts }: SearchScenario<Fields>,
): Promise<void> {
  const expectFinds = async () => {
    const { records } = await repository.list({ limit: 1_000, filters: [], order: BY_ID });
    for (const text of texts) {
      const found = await repository.list({ limit: 1_000, filters: [searchFor(text)], order: BY_ID });
      const ids = found.records.map(({ id }) => id);
      expect(ids, text).to.deep.equal(expectedFinds(resource, records, text));
    }
  };
  for (const [at, one] of writes.entries()) {
    await apply(repository, one);
    if (at % WRITES_BETWEEN_SEARCHES === 0) await expectFinds();
  }
  await expectFinds();
}

export async function apply<Fields>(repository: Repository<Fields>, write: Write<Fields>): Promise<unknown> {
  const existing = await repository.find(write.id);
  const expected = (existing?.version ?? 1) + (write.stale ? 1 : 0);
  if (write.write === 'remove') return repository.removeAll([{ id: write.id, expected, at: 0 }]);
  const version = write.write === 'insert' ? 1 : expected + 1;
  const createdAt = existing?.createdAt ?? write.at.createdAt;
  const record: Versioned<Fields> = { id: write.id, version, ...write.at, createdAt, fields: write.fields };
  const [outcome] = await (write.write === 'insert'
    ? repository.insertAll([record])
    : repository.replaceAll([{ record, expected }]));
  return outcome instanceof AppError ? [outcome.code, outcome.details] : outcome;
}

const END: Position = { side: 'before', inclusive: true, values: [] };

/** The facets, and the rest of the first one page by page. */
async function allFacets<Fields>(
  repository: Repository<Fields>,
  query: FacetQuery,
): Promise<readonly (readonly FacetCount[])[]> {
  const facets = await repository.facets(query);
  const fields = query.fields.slice(0, 1);
  const rest: FacetCount[] = [];
  for (let last = facets[0]; last?.hasMore; ) {
    [last] = await repository.facets({ ...query, fields, after: last.values.at(-1) });
    rest.push(...(last?.values ?? []));
  }
  return [...facets.map(({ values }) => values), rest];
}

interface Page<Fields> {
  /** In the direction of reading. */
  readonly records: readonly Versioned<Fields>[];
  /** Absent if stores may differ. */
  readonly hasMore?: boolean;
}

/** Reads the pages from the position of the query on, at most `maxPages`. */
async function readPages<Fields>(
  lists: Pick<OrderedLists<Fields>, 'list'>,
  query: ListQuery & Partial<DistinctQuery>,
  maxPages = Number.POSITIVE_INFINITY,
): Promise<Page<Fields>[]> {
  const side: Position['side'] = query.from?.side ?? 'after';
  const pages: Page<Fields>[] = [];
  let isEnd = false;
  for (let from = query.from; pages.length < maxPages; ) {
    const page: ListPage<Versioned<Fields>> = await lists.list({ ...query, from } as DistinctQuery);
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
