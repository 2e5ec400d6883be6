import { derivedDataContract } from '../contract/derived-data.contract.js';
import { LOCAL_STORES } from '../stores/index.js';
import { isKept } from '../stores/provider.js';

for (const store of LOCAL_STORES.filter(isKept)) derivedDataContract(store);
