import { lostUpdatesContract } from '../contract/lost-updates.contract.js';
import { inProcessService } from '../support/in-process-service.js';

describe('one process', () => {
  const service = inProcessService();
  lostUpdatesContract('memory', () => [service.client]);
});
