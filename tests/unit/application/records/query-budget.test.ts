import { expect } from 'chai';
import { QueryBudget } from '#src/application/records/lists.js';
import { yieldToEventLoop } from '#src/shared/promises.js';
import { expectAppError } from '../../../support/expect-refusal.js';
import { FakeClock } from '../../../support/fakes.js';

describe('QueryBudget', () => {
  it('stops a query once its work has used up the time', async () => {
    const clock = new FakeClock();
    const time = new QueryBudget(clock, 10).start();
    clock.running = 9.9;
    await time.checkpoint();
    clock.running = 10;
    await expectAppError(time.checkpoint(), 'query_too_expensive');
  });

  it('never refuses a query without a limit', async () => {
    const clock = new FakeClock();
    const time = new QueryBudget(clock, 10).startUnlimited();
    clock.running = 1_000_000;
    await time.checkpoint();
  });

  it('counts from the start of each query', async () => {
    const clock = new FakeClock();
    const budget = new QueryBudget(clock, 10);
    const first = budget.start();
    clock.running = 10;
    const second = budget.start();
    await expectAppError(first.checkpoint(), 'query_too_expensive');
    await second.checkpoint();
  });

  it('does not count the work of others', async () => {
    const clock = new FakeClock();
    const time = new QueryBudget(clock, 10).start();
    for (let piece = 1; piece <= 3; piece++) {
      clock.running += 3;
      const checkpoint = time.checkpoint();
      clock.running += 1_000;
      await checkpoint;
    }
    clock.running += 1;
    await expectAppError(time.checkpoint(), 'query_too_expensive');
  });

  it('yields to other work', async () => {
    const time = new QueryBudget(new FakeClock(), 10).start();
    let hadTurn = false;
    const other = yieldToEventLoop().then(() => (hadTurn = true));
    await time.checkpoint();
    await other;
    expect(hadTurn).to.equal(true);
  });

  it('returns how long each piece took, without the work of others', async () => {
    const clock = new FakeClock();
    const time = new QueryBudget(clock, 100).start();
    clock.running += 7;
    const checkpoint = time.checkpoint();
    clock.running += 50;
    expect(await checkpoint).to.equal(7);
    clock.running += 3;
    expect(await time.checkpoint()).to.equal(3);
  });
});
