import { randomImports } from '../cases/keyed-imports.contract.js';
import { derivedDataContract } from '../contract/derived-data.contract.js';
import { repositoryContract } from '../contract/repository.contract.js';
import { storeContract } from '../contract/store.contract.js';
import { SERVER_STORES } from '../stores/index.js';

for (const store of SERVER_STORES) {
  repositoryContract(store);
  derivedDataContract(store);
  storeContract(store);
  randomImports(store.name, 10);
}
