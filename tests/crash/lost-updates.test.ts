import { lostUpdatesContract } from '../contract/lost-updates.contract.js';
import { twoServices } from '../support/two-services.js';

describe('two processes', () => {
  lostUpdatesContract('one SQLite file', twoServices({ STORE: 'sqlite' }));
});
