import type { Store } from '../../../application/ports/store.js';

/** The store under the memory repositories. There is nothing to open and nothing to close. */
export class MemoryStore implements Store {
  readonly location = 'the memory of this process (forgotten when it ends)';

  async open(): Promise<void> {}

  async ping(): Promise<void> {}

  async close(): Promise<void> {}
}
