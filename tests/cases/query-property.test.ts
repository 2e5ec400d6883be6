import { queryProperty } from '../contract/query-property.js';
import { LETTERS } from '../contract/query-scenarios.js';
import { LOCAL_STORES, TEST_STORES } from '../stores/index.js';
import { sized } from '../support/run-settings.js';

const SERVERS = LOCAL_STORES.filter(({ startServer }) => startServer);

// tests/contract/stores.test.ts compares the stores without a server.
if (SERVERS.length > 0)
  queryProperty({
    stores: [TEST_STORES.memory, ...SERVERS],
    letters: LETTERS,
    numRuns: sized({ gate: 10, night: 40 }),
    numLargeRuns: sized({ gate: 3, night: 20 }),
  });
