import { listFilterContract } from '../contract/repository.contract.js';
import { LOCAL_STORES } from '../stores/index.js';
import { AT_NIGHT } from '../support/run-settings.js';

// Each of the many tests has an empty store, which a server takes long to make. In the gate, the property of queries and
// the tests of the HTTP interface have it.
for (const store of LOCAL_STORES) if (AT_NIGHT || !store.startServer) listFilterContract(store);
