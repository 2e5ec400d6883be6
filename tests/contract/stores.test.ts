import { LOCAL_STORES } from '../stores/index.js';
import { repositoryContract } from './repository.contract.js';

/** `tests/cases/stores.test.ts` has the other contracts of these stores, and all of those with a server. */
for (const store of LOCAL_STORES) if (!store.startServer) repositoryContract(store);
