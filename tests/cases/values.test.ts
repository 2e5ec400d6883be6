import { badBodies, randomRecords } from './values/values.contract.js';

/** `campaigns/faults/values.test.ts` sends all bad bodies, and twenty times as many records, to MongoDB too. */
badBodies(8);
randomRecords({ STORE: 'memory' }, 250);
randomRecords({ STORE: 'sqlite' }, 250);
