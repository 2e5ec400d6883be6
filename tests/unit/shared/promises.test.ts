import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { andThen, catchErrors, withTimeout } from '#src/shared/promises.js';

describe('andThen', () => {
  it('uses a known value in the same turn and returns the result itself', () => {
    expect(andThen(20, (value) => value + 1)).to.equal(21);
  });

  it('uses a promised value later, and passes a rejection on', async () => {
    expect(await andThen(Promise.resolve(20), (value) => value + 1)).to.equal(21);
    const failure = new Error('failed');
    const rejected = andThen(Promise.reject(failure), () => 'unused');
    expect(await Promise.resolve(rejected).catch((error: unknown) => error)).to.equal(failure);
  });
});

describe('catchErrors', () => {
  const failure = new Error('failed');
  const fail = () => {
    throw failure;
  };

  it('returns the result itself, without a promise if there is none', async () => {
    expect(catchErrors(() => 1, fail)).to.equal(1);
    expect(await catchErrors(async () => 1, fail)).to.equal(1);
  });

  it('handles an error that is thrown, in the same turn, and one that is rejected', async () => {
    expect(catchErrors(fail, (error) => error)).to.equal(failure);
    expect(
      await catchErrors<unknown>(
        async () => fail(),
        (error) => error,
      ),
    ).to.equal(failure);
  });

  it('passes on the error of the handler', async () => {
    expect(() => catchErrors(fail, fail)).to.throw(failure);
    const rejected = await Promise.resolve(catchErrors(async () => fail(), fail)).catch((error) => error);
    expect(rejected).to.equal(failure);
  });
});

describe('withTimeout', () => {
  it('passes on a result in time, and a failure in time', async () => {
    expect(await withTimeout(Promise.resolve(1), 5)).to.equal(1);
    const failure = new Error('no');
    expect(await withTimeout(Promise.reject(failure), 5).catch((error: unknown) => error)).to.equal(failure);
  });

  it('throws after the time limit, and drops a later result', async () => {
    let failLate = (_: Error) => {};
    const late = new Promise<never>((_, reject) => (failLate = reject));
    const outcome = await withTimeout(late, 5).catch((error: Error) => error.message);
    expect(outcome).to.equal('no response within 5 ms');
    failLate(new Error('late'));
    // An unhandled rejection would end the run in this turn.
    await nextTurn();
  });

  it('accepts a result that was ready in time, even if the process was blocked for longer', async () => {
    const ready = new Promise<string>((resolve) => setTimeout(() => setImmediate(resolve, 'ready'), 4));
    const response = withTimeout(ready, 5);
    const end = performance.now() + 30;
    while (performance.now() < end);
    expect(await response).to.equal('ready');
  });
});
