import { expect } from 'chai';
import { PoolQuota } from '#src/application/maintenance/server-calls.js';
import { unavailable } from '#src/domain/errors.js';
import type { Permit } from '#src/shared/fair-semaphore.js';
import { Task } from '#src/shared/task-scheduler.js';
import { expectAppError } from '../../../support/expect-refusal.js';

const [A, B] = [new Task('a'), new Task('b')];
/** Longer than any test waits. */
const LONG_MS = 600_000;

describe('the shares of the connections to a store', () => {
  const sharesWith = (searchPatienceMs: number) =>
    new PoolQuota({ searches: 2, searchPatienceMs, batches: 2, batchPatienceMs: LONG_MS });

  it('let one client have half of the searches, and the others the rest', async () => {
    const shares = sharesWith(1);
    const first = await shares.search(A);
    await expectAppError(shares.search(A), 'unavailable');
    await shares.search(B);
    first.release();
    await shares.search(A);
  });

  it('let so many searches of a client wait', async () => {
    const shares = sharesWith(LONG_MS);
    const first = await shares.search(A);
    const done: Permit[] = [];
    const waiting = Array.from({ length: 40 }, () =>
      shares.search(A).then((permit) => {
        done.push(permit);
        permit.release();
      }),
    );
    await expectAppError(shares.search(A), 'unavailable');
    first.release();
    await Promise.all(waiting);
    expect(done).to.have.length(40);
  });

  it('let two operations of all calls on many records run at the same time, and results keep their order', async () => {
    const shares = sharesWith(1);
    let running = 0;
    const most: number[] = [];
    const operation = async (item: number) => {
      most.push(++running);
      for (let turns = 10 - item; turns > 0; turns--) await new Promise(setImmediate);
      running--;
      return -item;
    };
    const calls = [shares.each([1, 2, 3, 4, 5], operation), shares.each([6, 7, 8], operation)];
    expect(await Promise.all(calls)).to.deep.equal([
      [-1, -2, -3, -4, -5],
      [-6, -7, -8],
    ]);
    expect(Math.max(...most)).to.equal(2);
    expect(await shares.each([], operation)).to.deep.equal([]);
  });

  it('let a call on one record pass', async () => {
    const shares = sharesWith(1);
    const finish: (() => void)[] = [];
    const running = shares.each([1, 2], () => new Promise<void>((resolve) => finish.push(resolve)));
    expect(await shares.each(['one'], async (item) => item)).to.deep.equal(['one']);
    for (const one of finish) one();
    await running;
  });

  it('start nothing more of a call after an error', async () => {
    const begun: number[] = [];
    const call = sharesWith(1).each([1, 2, 3, 4, 5, 6], async (item) => {
      begun.push(item);
      await new Promise(setImmediate);
      if (item === 3) throw unavailable('x');
    });
    await expectAppError(call, 'unavailable');
    await new Promise(setImmediate);
    expect(begun).to.deep.equal([1, 2, 3, 4]);
  });
});
