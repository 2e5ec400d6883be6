/** Two processes import the same SKUs at once, with PUTs in between. No version is skipped and no update lost. */
import { concurrentImportsContract } from '../contract/concurrent-imports.contract.js';
import { childProcessServices } from '../support/child-process-service.js';
import { mongoSettings } from '../support/mongo-settings.js';
import { AT_NIGHT } from '../support/run-settings.js';

/** A write takes the stand-in for MongoDB milliseconds. */
const COUNT = AT_NIGHT ? 1_000 : 200;

describe('two processes on one SQLite file', () => {
  concurrentImportsContract('SQLite', childProcessServices(2, { STORE: 'sqlite' }));
});

describe('two processes on one MongoDB', () => {
  concurrentImportsContract('MongoDB', childProcessServices(2, mongoSettings('concurrent-imports')), COUNT);
});
