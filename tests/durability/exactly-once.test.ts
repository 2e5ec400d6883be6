/** Kills a process at each step of a creation with an `Idempotency-Key`. A retry finishes it, and one record exists. */
import { exactlyOnceContract } from '../contract/exactly-once.contract.js';
import { KEPT_STORES } from '../stores/index.js';

for (const store of KEPT_STORES) exactlyOnceContract(store);
