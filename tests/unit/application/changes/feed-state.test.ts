import { expect } from 'chai';
import { GENERATION_MS, Generation } from '#src/application/changes/feed-state.js';
import { unavailable } from '#src/domain/errors.js';
import { expectAppError } from '../../../support/expect-refusal.js';
import { FakeClock } from '../../../support/fakes.js';

describe('the generation that a process knows', () => {
  /** One whose reads end when the test says so. */
  const started = () => {
    const clock = new FakeClock();
    const reads: { resolve(generation: string | undefined): void; reject(error: Error): void }[] = [];
    const read = () =>
      new Promise<string | undefined>((resolve, reject) => {
        reads.push({ resolve, reject });
      });
    return { clock, reads, known: new Generation({ generation: read }, clock) };
  };

  it('is read once for all requests of half a second, from the begin of the read on', async () => {
    const { clock, reads, known } = started();
    const first = [known.current(), known.current()];
    clock.running += GENERATION_MS - 1;
    first.push(known.current());
    reads[0]?.resolve('a');
    expect(await Promise.all(first)).to.deep.equal(['a', 'a', 'a']);
    expect([known.current(), reads.length]).to.deep.equal(['a', 1]);
    clock.running += 1;
    const second = known.current();
    clock.running += GENERATION_MS;
    const third = known.current();
    // In another order than they were asked for.
    reads[2]?.resolve('c');
    reads[1]?.resolve('b');
    expect([await second, await third, known.current(), reads.length]).to.deep.equal(['b', 'c', 'c', 3]);
  });

  it('is read again after a failure', async () => {
    const { reads, known } = started();
    const failed = known.current() as Promise<unknown>;
    reads[0]?.reject(unavailable('The store is away.'));
    await expectAppError(failed, 'unavailable');
    const next = known.current();
    reads[1]?.resolve(undefined);
    expect(await next).to.equal(undefined);
  });
});
