import { LOCAL_STORES } from '../stores/index.js';
import { outageContract } from './outage.contract.js';
import { repositoryContract } from './repository.contract.js';

/** `tests/cases/stores.test.ts` has the other contracts of these stores. */
for (const store of LOCAL_STORES) {
  repositoryContract(store);
  if (store.startServer) outageContract(store, store.startServer, ['a server that dies']);
}
