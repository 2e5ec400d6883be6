import { expect } from 'chai';
import fc from 'fast-check';
import type { ListPlace } from '#src/application/list-query.js';
import type { Repository } from '#src/application/ports/repository.js';
import { placeAt } from '#src/application/record-order.js';
import { CatalogueError } from '#src/domain/errors.js';
import { PRODUCT_FIELDS } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { USER_FIELDS } from '#src/domain/user.js';
import {
  type AnyQuery,
  type Drawn,
  PRODUCT,
  type Scenario,
  scenarios,
  USER,
  type Write,
} from './query-scenarios.js';
import { beyondAll } from './repository/expected.js';
import type { OpenRepository } from './repository.contract.js';

/** Runs to its end within the time-out of a test; a failure needs longer, to be shrunk to its smallest. */
const TIMEOUT_MS = 300_000;

export interface QueryProperty {
  /** The first is compared with each other. */
  readonly stores: Readonly<Record<string, () => Promise<OpenRepository>>>;
  readonly letters: readonly string[];
  readonly numRuns: number;
}

/** Whatever is written and asked, each store answers alike, to the byte. */
export function queryProperty({ stores, letters, numRuns }: QueryProperty): void {
  const property = <Fields>(drawn: Drawn<Fields>, of: (opened: OpenRepository) => Repository<Fields>) =>
    fc.asyncProperty(scenarios(drawn, letters), async (scenario) => {
      const told: [name: string, transcript: string[]][] = [];
      for (const [name, open] of Object.entries(stores)) {
        const opened = await open();
        try {
          told.push([name, await transcript(of(opened), scenario)]);
        } finally {
          await opened.close();
        }
      }
      for (const [name, lines] of told) expect(lines, name).to.deep.equal(told[0]?.[1]);
    });

  describe(`any query of any data, on ${Object.keys(stores).join(', ')}`, () => {
    it('is answered alike, of products', async () => {
      await fc.assert(
        property(PRODUCT(PRODUCT_FIELDS), ({ products }) => products),
        { numRuns },
      );
    }).timeout(TIMEOUT_MS);

    it('is answered alike, of users', async () => {
      await fc.assert(
        property(USER(USER_FIELDS), ({ users }) => users),
        { numRuns },
      );
    }).timeout(TIMEOUT_MS);
  });
}

/** Everything that the store said, a line an answer. */
async function transcript<Fields>(
  repository: Repository<Fields>,
  { writes, queries }: Scenario<Fields>,
): Promise<string[]> {
  const lines: string[] = [];
  for (const one of writes) lines.push(JSON.stringify([one.write, one.id, await written(repository, one)]));
  for (const query of queries) {
    const there = await walked(repository, query, 'after');
    const back = await walked(repository, query, 'before');
    const all = there.flat();
    expect(back.flat().toReversed(), 'the way back').to.deep.equal(all);
    expect(await repository.count(query.filters), 'the count').to.equal(all.length);
    lines.push(JSON.stringify({ query, there, back }));
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
    if (error instanceof CatalogueError) return [error.code, error.details];
    throw error;
  }
}

/** The pages from one end to the other, as they are read: going back, their records too. */
async function walked<Fields>(
  repository: Repository<Fields>,
  query: AnyQuery,
  side: ListPlace['side'],
): Promise<Versioned<Fields>[][]> {
  const pages: Versioned<Fields>[][] = [];
  let from: ListPlace | undefined = side === 'before' ? beyondAll(query.order, side) : undefined;
  for (;;) {
    const { records, hasMore } = await repository.list({ ...query, ...(from && { from }) });
    const read = side === 'after' ? records : records.toReversed();
    pages.push([...read]);
    const last = read.at(-1);
    if (!hasMore || !last) return pages;
    from = placeAt(last, query.order, side);
  }
}
