import { expect } from 'chai';
import { andThen } from '#src/shared/maybe-promise.js';

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
