import { queryProperty } from '../contract/query-property.js';
import { LETTERS } from '../contract/query-scenarios.js';
import { LOCAL_STORES } from '../support/local-stores.js';
import { sized } from '../support/run-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('the stores that need no server', () => {
  const folder = temporaryFolder();

  queryProperty({
    stores: Object.fromEntries(LOCAL_STORES.map(([name, open]) => [name, (budget) => open(folder, budget)])),
    letters: LETTERS,
    numRuns: sized({ gate: 10, night: 40 }),
    numLargeRuns: sized({ gate: 5, night: 20 }),
  });
});
