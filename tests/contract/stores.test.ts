import { LOCAL_STORES } from '../stores/index.js';
import { storeContract } from './store.contract.js';

for (const store of LOCAL_STORES) storeContract(store);
