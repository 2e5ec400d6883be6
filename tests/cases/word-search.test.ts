import { wordSearchContract } from '../contract/repository.contract.js';
import { LOCAL_STORES } from '../stores/index.js';

for (const store of LOCAL_STORES) wordSearchContract(store);
