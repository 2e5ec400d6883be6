import { openMemory } from '../support/open-memory.js';
import { openSqlite } from '../support/open-sqlite.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { queryProperty } from './query-property.js';
import { LETTERS } from './query-scenarios.js';

describe('memory and SQLite', () => {
  const folder = temporaryFolder();

  queryProperty({
    stores: { memory: openMemory, SQLite: (budget) => openSqlite(folder, budget) },
    letters: LETTERS,
    numRuns: 100,
    numLargeRuns: 40,
  });
});
