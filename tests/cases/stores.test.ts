import { storeContract } from '../contract/store.contract.js';
import { LOCAL_STORES } from '../stores/index.js';

for (const store of LOCAL_STORES) storeContract(store);
