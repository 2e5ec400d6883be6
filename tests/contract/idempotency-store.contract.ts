import { contentContract } from './idempotency/content.js';
import { racingContract } from './idempotency/racing.js';
import { reservingContract } from './idempotency/reserving.js';
import { Opened, type OpenRepository } from './repository/opened.js';

/** What every idempotency store holds to. A new adapter is proved by calling this with a way to open one. */
export function idempotencyStoreContract(adapter: string, open: () => Promise<OpenRepository>): void {
  describe(`the idempotency store contract on ${adapter}`, () => {
    const store = Opened.forEachTest(open);
    reservingContract(store);
    racingContract(store);
    contentContract(store);
  });
}
