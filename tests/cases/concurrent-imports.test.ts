import { concurrentImportsContract } from '../contract/concurrent-imports.contract.js';
import { LOCAL_STORE_NAMES } from '../stores/index.js';
import { inProcessService } from '../support/in-process-service.js';
import { sized } from '../support/run-settings.js';

for (const STORE of LOCAL_STORE_NAMES)
  describe('one process', () => {
    const service = inProcessService({ STORE });
    concurrentImportsContract(STORE, () => [service.client], sized({ gate: 300, night: 1_000 }));
  });
