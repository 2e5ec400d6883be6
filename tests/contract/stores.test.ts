import { LOCAL_STORES } from '../stores/index.js';
import { sized } from '../support/run-settings.js';
import { queryProperty } from './query-property.js';
import { LETTERS } from './query-scenarios.js';
import { repositoryContract } from './repository.contract.js';

const EMBEDDED = LOCAL_STORES.filter(({ startServer }) => !startServer);

/** `tests/cases/stores.test.ts` has the other contracts of these stores, and all of those with a server. */
for (const store of EMBEDDED) repositoryContract(store);

queryProperty({
  stores: EMBEDDED,
  letters: LETTERS,
  numRuns: sized({ gate: 18, night: 100 }),
  numLargeRuns: sized({ gate: 4, night: 20 }),
});
