/** 50 writers change one record through two processes. No acknowledged update is lost. */
import { lostUpdatesContract } from '../contract/lost-updates.contract.js';
import { SHARED_STORES } from '../stores/index.js';
import { childProcessServices } from '../support/child-process-service.js';

for (const store of SHARED_STORES)
  describe('two processes', () => {
    lostUpdatesContract(store.name, childProcessServices(2, store));
  });
