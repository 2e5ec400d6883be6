import { killedImportsContract } from '../contract/killed-imports.contract.js';

/** `campaigns/faults/killed-imports.test.ts` kills more often, on MongoDB too. */
killedImportsContract('SQLite', { STORE: 'sqlite' }, 1);
