import { lostUpdatesContract } from '../contract/lost-updates.contract.js';
import { runningService } from '../support/running-service.js';

describe('one process', () => {
  const service = runningService();
  lostUpdatesContract('memory', () => [service.client]);
});
