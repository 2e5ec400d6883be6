import { lostUpdatesContract } from '../contract/lost-updates.contract.js';
import { spawnedServices } from '../support/spawned-service.js';

describe('two processes', () => {
  lostUpdatesContract('one SQLite file', spawnedServices(2, { STORE: 'sqlite' }));
});
