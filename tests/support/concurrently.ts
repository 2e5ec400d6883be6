/**
 * Declares tests that run at the same time, because they mostly wait. They start after the `before` hooks above it.
 * @param tests the tests by their titles; none may depend on another
 */
export function concurrently(tests: Readonly<Record<string, () => Promise<void>>>): void {
  const runs = new Map<string, Promise<void>>();
  before(() => {
    for (const [title, test] of Object.entries(tests)) {
      const run = test();
      // The test of this title reports the error.
      run.catch(() => {});
      runs.set(title, run);
    }
  });
  for (const title of Object.keys(tests))
    it(title, () => runs.get(title) ?? Promise.reject(new Error('The test did not start.')));
}
