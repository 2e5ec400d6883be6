import { expect } from 'chai';
import { CatalogueError, type ErrorCode } from '#src/domain/errors.js';

/** Expects a CatalogueError of this code, its details at these pointers. */
export async function expectRefusal(
  attempt: Promise<unknown>,
  code: ErrorCode,
  pointers: string[] = [],
): Promise<void> {
  const outcome = await attempt.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
  expect(outcome).to.be.instanceOf(CatalogueError);
  const error = outcome as CatalogueError;
  expect(error.code).to.equal(code);
  expect(error.details.map(({ pointer }) => pointer)).to.deep.equal(pointers);
}
