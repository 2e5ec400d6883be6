import { expect } from 'chai';
import { andThen, catchErrors } from '#src/shared/maybe-promise.js';

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
