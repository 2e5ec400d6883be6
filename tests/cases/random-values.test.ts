import { LOCAL_STORE_NAMES } from '../stores/index.js';
import { badBodies, randomRecords } from './random-values/values.contract.js';

/** `campaigns/faults/random-values.test.ts` sends twenty times as many records, to every store. */
badBodies();
for (const store of LOCAL_STORE_NAMES) randomRecords(store, 1);
