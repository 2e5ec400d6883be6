/** Kills a process in the middle of an import by SKU, again and again. The import sent again ends as one run does. */
import { killedImportsContract } from '../../tests/contract/killed-imports.contract.js';
import { KEPT_STORES } from '../../tests/stores/index.js';

for (const store of KEPT_STORES) killedImportsContract(store, store.pace === 'fast' ? 40 : 10);
