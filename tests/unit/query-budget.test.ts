import { expect } from 'chai';
import { QueryBudget } from '#src/application/query-budget.js';
import { CatalogueError } from '#src/domain/errors.js';
import { FakeClock } from '../support/fakes.js';

describe('a query budget', () => {
  it('lets a query go on until its time is over, and no longer', () => {
    const clock = new FakeClock();
    const deadline = new QueryBudget(clock, 2_000).start();
    deadline.check();
    clock.running = 1_999;
    deadline.check();
    clock.running = 2_000;
    expect(() => deadline.check())
      .to.throw(CatalogueError)
      .with.property('code', 'query_too_expensive');
  });

  it('begins for each query by itself', () => {
    const clock = new FakeClock();
    const budget = new QueryBudget(clock, 100);
    const early = budget.start();
    clock.running = 99;
    const late = budget.start();
    clock.running = 150;
    expect(() => early.check()).to.throw(CatalogueError);
    late.check();
  });

  it('heeds no change of the time of day', () => {
    const clock = new FakeClock();
    const deadline = new QueryBudget(clock, 100).start();
    clock.time += 3_600_000;
    deadline.check();
  });

  it('measures how long work took, and hands over what it made', () => {
    const clock = new FakeClock(0, 50);
    const measured = new QueryBudget(clock, 100).measured(() => {
      clock.running += 7;
      return 'made';
    });
    expect(measured).to.deep.equal(['made', 7]);
  });
});
