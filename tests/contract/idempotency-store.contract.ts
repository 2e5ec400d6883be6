import { contentContract } from './idempotency/content.js';
import { racingContract } from './idempotency/racing.js';
import { reservingContract } from './idempotency/reserving.js';
import { type OpenRepository, TestStore } from './repository/test-store.js';

/** The tests that every idempotency store passes. A new adapter calls this with a function that opens its store. */
export function idempotencyStoreContract(adapter: string, open: () => Promise<OpenRepository>): void {
  describe(`the idempotency store contract on ${adapter}`, () => {
    const store = TestStore.forEachTest(open);
    reservingContract(store);
    racingContract(store);
    contentContract(store);
  });
}
