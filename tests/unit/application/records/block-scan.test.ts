import { expect } from 'chai';
import { BY_ID, type ListQuery } from '#src/application/ports/list-query.js';
import {
  type BlockScan,
  countByBlocks,
  type IdRange,
  listByBlocks,
  scanBlocks,
} from '#src/application/records/block-scan.js';
import { QueryBudget } from '#src/application/records/lists.js';
import { queryTooExpensive, unavailable } from '#src/domain/errors.js';
import { expectAppError } from '../../../support/expect-refusal.js';
import { FakeClock } from '../../../support/fakes.js';

const ALL = { low: 0, high: Number.POSITIVE_INFINITY };

describe('a search, block by block,', () => {
  let clock: FakeClock;

  beforeEach(() => (clock = new FakeClock()));

  /** Scans ids from 5 to 100,000 in blocks of 10, and returns the parts that were read. */
  const scan = async (
    changes: Partial<BlockScan> = {},
    read: (range: IdRange) => boolean | undefined = () => false,
  ) => {
    const parts: [low: number, high: number][] = [];
    const time = new QueryBudget(clock, 2_000).startUnlimited();
    const findEdge = async (side: 'first' | 'last') => (side === 'first' ? 5 : 100_000);
    await scanBlocks(
      { range: ALL, isAscending: true, findEdge, time, unit: 10, mayTakeLong: true, ...changes },
      async (range) => {
        parts.push([range.low, range.high]);
        return read(range) === true;
      },
    );
    return parts;
  };

  it('reads one block, then more and more, and at last all that is left', async () => {
    expect((await scan()).join(' ')).to.equal('0,9 10,169 170,2729 2730,43689 43690,Infinity');
  });

  it('reads the same backwards, from the last record', async () => {
    const parts = await scan({ isAscending: false });
    expect(parts.join(' ')).to.equal('100000,100000 99840,99999 97280,99839 56320,97279 0,56319');
  });

  it('covers any range exactly once, in either direction', async () => {
    for (const range of ['0 9', '3 3', '7 777', '10 99999', '99990 1000000', '12 4']) {
      const [low = 0, high = 0] = range.split(' ').map(Number);
      for (const isAscending of [true, false]) {
        const parts = await scan({ range: { low, high }, isAscending });
        const sorted = parts.toSorted(([a], [b]) => a - b);
        expect(sorted[0]?.[0] ?? 12, `${low}–${high}`).to.equal(low);
        expect(sorted.at(-1)?.[1] ?? 4).to.equal(high);
        for (const [at, [start]] of sorted.slice(1).entries()) expect(start).to.equal(1 + (sorted[at]?.[1] ?? 0));
      }
    }
  });

  it('ends when the page is full', async () => {
    expect((await scan({}, ({ low }) => low > 0)).join(' ')).to.equal('0,9 10,169');
  });

  it('reads nothing if there is no record to begin with', async () => {
    expect(await scan({ isAscending: false, findEdge: async () => undefined })).to.deep.equal([]);
  });

  it('reads fewer blocks at a time after a slow part', async () => {
    const times = [0, 0, 600, 60, 300];
    const parts = await scan({}, () => {
      clock.running += times.shift() ?? 0;
      return times.length === 0;
    });
    expect(parts.map(([low, high]) => (high - low + 1) / 10)).to.deep.equal([1, 16, 256, 64, 128]);
  });

  it('reads a part that takes too long again in smaller parts, unless its time is limited', async () => {
    const tooLarge = ({ low, high }: IdRange) => {
      if (high - low > 1_000) throw queryTooExpensive();
      return low > 5_000;
    };
    const parts = await scan({}, tooLarge);
    const done = parts.filter(([low, high]) => high - low <= 1_000);
    for (const [at, [low]] of done.slice(1).entries()) expect(low).to.equal(1 + (done[at]?.[1] ?? 0));
    await expectAppError(scan({ mayTakeLong: false }, tooLarge), 'query_too_expensive');
  });

  it('fails if one block takes too long, or the store cannot be reached', async () => {
    const fail = (error: Error) => () => {
      throw error;
    };
    await expectAppError(scan({}, fail(queryTooExpensive())), 'query_too_expensive');
    await expectAppError(scan({}, fail(unavailable('x'))), 'unavailable');
  });
});

describe('what a search finds, block by block,', () => {
  const budget = new QueryBudget(new FakeClock(), 2_000);
  const blocks = { unit: 10, findEdge: async (side: 'first' | 'last') => (side === 'first' ? 0 : 9_990) };
  const filters = [{ field: 'q', operator: 'search', words: ['a'] } as const];
  /** A record of 100 bytes for every tenth id. */
  const idsIn = ({ low, high }: IdRange = { low: 0, high: -1 }) =>
    Array.from({ length: 1_000 }, (_, at) => 10 * at).filter((id) => id >= low && id <= high);

  const page = async (changes: Partial<ListQuery>) => {
    const query = { limit: 5, filters, order: BY_ID, ...changes };
    const isBackwards = query.from?.side === 'before';
    const { records, hasMore } = await listByBlocks(query, blocks, budget, async (rest, range) => {
      const ids = idsIn(range);
      const read = isBackwards ? ids.toReversed() : ids;
      const part = read.slice(0, Math.min(rest.limit, Math.ceil((rest.bytes ?? 0) / 100)));
      const found = (isBackwards ? part.toReversed() : part).map((id) => ({ id, fieldsBytes: 100 }));
      return { records: found, hasMore: part.length < read.length };
    });
    return [records.map(({ id }) => id), hasMore];
  };

  it('is a page of at most the records and the bytes of the query', async () => {
    expect(await page({})).to.deep.equal([[0, 10, 20, 30, 40], true]);
    expect(await page({ bytes: 250 })).to.deep.equal([[0, 10, 20], true]);
    const last = { side: 'after', inclusive: false, values: [9_960] } as const;
    expect(await page({ from: last })).to.deep.equal([[9_970, 9_980, 9_990], false]);
  });

  it('is in the order of the list, also before a position', async () => {
    const from = { side: 'before', inclusive: false, values: [60] } as const;
    expect(await page({ from })).to.deep.equal([[10, 20, 30, 40, 50], true]);
    expect(await page({ from, limit: 9 })).to.deep.equal([[0, 10, 20, 30, 40, 50], false]);
  });

  it('is counted', async () => {
    const count = async (range?: IdRange) => idsIn(range).length;
    expect(await countByBlocks({ filters }, blocks, budget, count)).to.equal(1_000);
  });
});
