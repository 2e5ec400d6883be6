/** Two processes import the same SKUs at once, with PUTs in between. No version is skipped and no update lost. */
import { concurrentImportsContract } from '../contract/concurrent-imports.contract.js';
import { SHARED_STORES } from '../stores/index.js';
import { childProcessServices } from '../support/child-process-service.js';
import { AT_NIGHT } from '../support/run-settings.js';

for (const store of SHARED_STORES)
  describe('two processes', () => {
    const count = store.pace === 'fast' || AT_NIGHT ? 1_000 : 200;
    concurrentImportsContract(store.name, childProcessServices(2, store), count);
  });
