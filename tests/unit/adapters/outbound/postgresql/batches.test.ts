import { expect } from 'chai';
import pg from 'pg';
import { Batches } from '#src/adapters/outbound/postgresql/batches.js';
import { translateError } from '#src/adapters/outbound/postgresql/errors.js';
import { unavailable } from '#src/domain/errors.js';

/** Work whose end the test decides. */
class Work {
  readonly batches: number[][] = [];
  private readonly ends: ((error?: unknown) => void)[] = [];

  readonly run = (items: readonly number[]): Promise<number[]> => {
    this.batches.push([...items]);
    return new Promise((resolve, reject) => {
      this.ends.push((error) => (error === undefined ? resolve(items.map((item) => item * 10)) : reject(error)));
    });
  };

  /** Ends the batch that began first, and lets the next one begin. */
  async end(error?: unknown): Promise<void> {
    this.ends.shift()?.(error);
    await new Promise(setImmediate);
  }
}

const LIMITS = { maxConcurrent: 1, items: 3, bytes: 1_000, waitMs: 60_000 };
const bytesOf = (item: number) => item;

describe('batches', () => {
  it('begin at once if few run, and collect callers while many do', async () => {
    const work = new Work();
    const batches = new Batches(LIMITS, work.run, bytesOf);
    const results = Promise.all([[1], [2, 3], [4]].map((items) => batches.add(items)));
    expect(work.batches).to.deep.equal([[1]]);
    await work.end();
    expect(work.batches).to.deep.equal([[1], [2, 3, 4]]);
    await work.end();
    expect(await results).to.deep.equal([[10], [20, 30], [40]]);
  });

  it('run as many at once as they may', async () => {
    const work = new Work();
    const batches = new Batches({ ...LIMITS, maxConcurrent: 2 }, work.run, bytesOf);
    const results = [1, 2, 3].map((item) => batches.add([item]));
    expect(work.batches).to.deep.equal([[1], [2]]);
    await work.end();
    expect(work.batches).to.deep.equal([[1], [2], [3]]);
    await work.end();
    await work.end();
    expect(await Promise.all(results)).to.deep.equal([[10], [20], [30]]);
  });

  it('have a limit, but do not divide what one caller wants', async () => {
    const work = new Work();
    const batches = new Batches(LIMITS, work.run, bytesOf);
    const results = [[1], [2, 3], [4, 5], [6, 7, 8, 9]].map((items) => batches.add(items));
    for (let ended = 0; ended < 4; ended++) await work.end();
    expect(work.batches).to.deep.equal([[1], [2, 3], [4, 5], [6, 7, 8, 9]]);
    await Promise.all(results);
  });

  it('have a limit of bytes, so that one statement does not take the time of many', async () => {
    const work = new Work();
    const batches = new Batches(LIMITS, work.run, bytesOf);
    const results = [1, 600, 400, 1, 2_000].map((bytes) => batches.add([bytes]));
    for (let ended = 0; ended < 4; ended++) await work.end();
    expect(work.batches).to.deep.equal([[1], [600, 400], [1], [2_000]]);
    await Promise.all(results);
  });

  it('are done for each caller alone if they took too long or met a deadlock, whoever is at fault', async () => {
    for (const code of ['57014', '40P01']) {
      const work = new Work();
      const batches = new Batches(LIMITS, work.run, bytesOf);
      const results = [1, 2, 3].map((item) => batches.add([item]));
      await work.end();
      await work.end(translateError(Object.assign(new pg.DatabaseError('', 0, 'error'), { code })));
      await work.end();
      await work.end();
      expect(await Promise.all(results)).to.deep.equal([[10], [20], [30]]);
      expect(work.batches).to.deep.equal([[1], [2, 3], [2], [3]]);
    }
  });

  it('are done for each caller alone if the server refuses them, so that one fault rejects no other', async () => {
    const fault = new Error('refused');
    const refused: number[] = [];
    const batches = new Batches<number, number>(
      LIMITS,
      async (items) => {
        refused.push(...items);
        if (items.includes(2)) throw fault;
        return [...items];
      },
      bytesOf,
    );
    const results = await Promise.allSettled([[0], [1], [2], [3]].map((items) => batches.add(items)));
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason))).to.deep.equal([
      [0],
      [1],
      fault,
      [3],
    ]);
    expect(refused).to.deep.equal([0, 1, 2, 3, 1, 2, 3]);
  });

  it('are not done alone for a caller who has left', async () => {
    const work = new Work();
    let now = 0;
    const batches = new Batches({ ...LIMITS, waitMs: 100 }, work.run, bytesOf, () => now);
    const first = batches.add([1]);
    const left = Promise.allSettled([batches.add([2])]);
    now = 50;
    const waits = batches.add([3]);
    await work.end();
    now = 120;
    await work.end(new Error('refused'));
    await work.end();
    expect((await left)[0]?.status).to.equal('rejected');
    expect([await first, await waits]).to.deep.equal([[10], [30]]);
    expect(work.batches).to.deep.equal([[1], [2, 3], [3]]);
  });

  it('are not repeated if their outcome is unknown', async () => {
    const work = new Work();
    const batches = new Batches(LIMITS, work.run, bytesOf);
    const results = Promise.allSettled([1, 2, 3].map((item) => batches.add([item])));
    await work.end();
    await work.end(unavailable('lost'));
    expect((await results).map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'rejected']);
    expect(work.batches).to.deep.equal([[1], [2, 3]]);
  });

  it('contain nothing of a caller who has left', async () => {
    const work = new Work();
    let now = 0;
    const batches = new Batches({ ...LIMITS, waitMs: 100 }, work.run, bytesOf, () => now);
    void batches.add([1]);
    void batches.add([2]);
    now = 50;
    void batches.add([3]);
    now = 120;
    await work.end();
    expect(work.batches).to.deep.equal([[1], [3]]);
  });
});
