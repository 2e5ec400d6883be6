import { killedImportsContract } from '../contract/killed-imports.contract.js';
import { LOCAL_STORES } from '../stores/index.js';
import { isKept } from '../stores/provider.js';

/** `campaigns/faults/killed-imports.test.ts` kills more often, and on every store. */
for (const store of LOCAL_STORES) if (isKept(store)) killedImportsContract(store, 1);
