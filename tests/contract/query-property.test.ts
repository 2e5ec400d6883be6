import { LOCAL_STORES } from '../support/local-stores.js';
import { sized } from '../support/run-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { queryProperty } from './query-property.js';
import { LETTERS } from './query-scenarios.js';

describe('the stores that need no server', () => {
  const folder = temporaryFolder();

  queryProperty({
    stores: Object.fromEntries(LOCAL_STORES.map(([name, open]) => [name, (budget) => open(folder, budget)])),
    letters: LETTERS,
    numRuns: sized({ gate: 10, night: 40 }),
    numLargeRuns: sized({ gate: 5, night: 20 }),
  });
});
