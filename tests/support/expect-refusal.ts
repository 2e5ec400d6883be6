import { expect } from 'chai';
import { AppError, type ErrorCode } from '#src/domain/errors.js';

/** Expects an `AppError` with this code, and with one detail at each of these pointers. */
export async function expectAppError(
  attempt: Promise<unknown>,
  code: ErrorCode,
  pointers: string[] = [],
): Promise<void> {
  const outcome = await attempt.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
  expect(outcome).to.be.instanceOf(AppError);
  const error = outcome as AppError;
  expect(error.code).to.equal(code);
  expect(error.details.map(({ pointer }) => pointer)).to.deep.equal(pointers);
}

/** Expects an error of a class, with such a message. */
export async function expectError(
  attempt: Promise<unknown>,
  type: new (message: string) => Error,
  message = /^/,
): Promise<void> {
  const outcome: unknown = await attempt.catch((error: unknown) => error);
  expect(outcome).to.be.instanceOf(type).with.property('message').that.matches(message);
}
