import { queryProperty } from '../contract/query-property.js';
import { LETTERS } from '../contract/query-scenarios.js';
import { ALL_STORES } from '../stores/index.js';
import { sized } from '../support/run-settings.js';

queryProperty({
  stores: ALL_STORES,
  letters: LETTERS,
  numRuns: sized({ gate: 5, night: 40 }),
  numLargeRuns: sized({ gate: 1, night: 5 }),
});
