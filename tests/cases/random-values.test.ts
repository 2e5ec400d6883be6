import { badBodies, randomRecords } from './random-values/values.contract.js';

/** `campaigns/faults/random-values.test.ts` sends all bad bodies, and twenty times as many records, to MongoDB too. */
badBodies(8);
randomRecords({ STORE: 'memory' }, 250);
randomRecords({ STORE: 'sqlite' }, 250);
