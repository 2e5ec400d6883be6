import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { withTimeout } from '#src/shared/timeout.js';

describe('withTimeout', () => {
  it('passes on a result in time, and a failure in time', async () => {
    expect(await withTimeout(Promise.resolve(1), 5)).to.equal(1);
    const failure = new Error('no');
    expect(await withTimeout(Promise.reject(failure), 5).catch((error: unknown) => error)).to.equal(failure);
  });

  it('throws after the time limit, and drops a later result', async () => {
    let failLate = (_: Error) => {};
    const late = new Promise<never>((_, reject) => {
      failLate = reject;
    });
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
