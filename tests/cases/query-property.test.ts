import { queryProperty } from '../contract/query-property.js';
import { LETTERS } from '../contract/query-scenarios.js';
import { LOCAL_STORES } from '../stores/index.js';
import { sized } from '../support/run-settings.js';

queryProperty({
  stores: LOCAL_STORES,
  letters: LETTERS,
  numRuns: sized({ gate: 6, night: 40 }),
  numLargeRuns: sized({ gate: 3, night: 20 }),
});
