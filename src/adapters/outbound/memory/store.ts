import type { Store } from '../../../application/ports/store.js';

/** The store of the memory repositories: nothing to open, nothing to lose that was not lost already. */
export class MemoryStore implements Store {
  readonly location = 'the memory of this process (forgotten when it ends)';

  async open(): Promise<void> {}

  async ping(): Promise<void> {}

  async close(): Promise<void> {}
}
