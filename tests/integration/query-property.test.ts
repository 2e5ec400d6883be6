import { queryProperty } from '../contract/query-property.js';
import { LETTERS } from '../contract/query-scenarios.js';
import { SERVER_STORES, TEST_STORES } from '../stores/index.js';
import { sized } from '../support/run-settings.js';

// tests/cases/query-property.test.ts compares the other stores with the one in memory.
queryProperty({
  stores: [TEST_STORES.memory, ...SERVER_STORES],
  letters: LETTERS,
  numRuns: sized({ gate: 5, night: 40 }),
  numLargeRuns: sized({ gate: 1, night: 5 }),
});
