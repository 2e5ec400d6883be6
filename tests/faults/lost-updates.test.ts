import { lostUpdatesContract } from '../contract/lost-updates.contract.js';
import { childProcessServices } from '../support/child-process-service.js';

describe('two processes', () => {
  lostUpdatesContract('one SQLite file', childProcessServices(2, { STORE: 'sqlite' }));
});
