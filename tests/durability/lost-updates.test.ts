/** 50 writers change one record through two processes. No acknowledged update is lost. */
import { lostUpdatesContract } from '../contract/lost-updates.contract.js';
import { childProcessServices } from '../support/child-process-service.js';
import { mongoSettings } from '../support/mongo-settings.js';

describe('two processes on one SQLite file', () => {
  lostUpdatesContract('SQLite', childProcessServices(2, { STORE: 'sqlite' }));
});

describe('two processes on one MongoDB', () => {
  lostUpdatesContract('MongoDB', childProcessServices(2, mongoSettings('lost-updates')));
});
