/** Two processes import the same 1,000 SKUs at once, with PUTs in between. No version is skipped and no update lost. */
import { concurrentImportsContract } from '../contract/concurrent-imports.contract.js';
import { childProcessServices } from '../support/child-process-service.js';
import { mongoSettings } from '../support/mongo-settings.js';

describe('two processes on one SQLite file', () => {
  concurrentImportsContract('SQLite', childProcessServices(2, { STORE: 'sqlite' }));
});

describe('two processes on one MongoDB', () => {
  concurrentImportsContract('MongoDB', childProcessServices(2, mongoSettings('concurrent-imports')));
});
