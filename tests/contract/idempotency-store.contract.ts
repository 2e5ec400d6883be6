import type { TestStoreProvider } from '../stores/provider.js';
import { contentContract } from './idempotency/content.js';
import { racingContract } from './idempotency/racing.js';
import { reservingContract } from './idempotency/reserving.js';
import { TestStore } from './repository/test-store.js';

/** The tests that every idempotency store passes. */
export function idempotencyStoreContract(provider: TestStoreProvider): void {
  describe(`the idempotency store contract on ${provider.name}`, () => {
    const store = TestStore.forEachTest(provider);
    reservingContract(store);
    racingContract(store);
    contentContract(store);
  });
}
