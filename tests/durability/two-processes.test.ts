/**
 * Two processes on one store: no update of many writers is lost, no SKU of two imports has two records, and a creation
 * with an `Idempotency-Key` happens once, also if a process is killed at any step of it.
 */
import { concurrentImportsContract } from '../contract/concurrent-imports.contract.js';
import { exactlyOnceContract } from '../contract/exactly-once.contract.js';
import { lostUpdatesContract } from '../contract/lost-updates.contract.js';
import { SHARED_STORES } from '../stores/index.js';
import { childProcessServices } from '../support/child-process-service.js';
import { sized } from '../support/run-settings.js';

for (const store of SHARED_STORES)
  describe('two processes', () => {
    const services = childProcessServices(2, store);
    // First, as it compares all products.
    concurrentImportsContract(store.name, services.clients, sized({ gate: 100, night: 1_000 }));
    lostUpdatesContract(store.name, services.clients);
    exactlyOnceContract(store, services);
  });
