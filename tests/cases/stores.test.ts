import { outageContract } from '../contract/outage.contract.js';
import { repositoryContract } from '../contract/repository.contract.js';
import { storeContract } from '../contract/store.contract.js';
import { LOCAL_STORES } from '../stores/index.js';

for (const store of LOCAL_STORES) {
  storeContract(store);
  if (!store.startServer) continue;
  repositoryContract(store);
  outageContract(store, store.startServer, ['a server that dies']);
}
