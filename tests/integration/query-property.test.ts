import { queryProperty } from '../contract/query-property.js';
import { LETTERS } from '../contract/query-scenarios.js';
import { openMemory } from '../support/open-memory.js';
import { openMongo } from '../support/open-mongo.js';
import { openSqlite } from '../support/open-sqlite.js';
import { sized } from '../support/run-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('memory, SQLite and MongoDB', () => {
  const folder = temporaryFolder();

  queryProperty({
    stores: { memory: openMemory, SQLite: (budget) => openSqlite(folder, budget), MongoDB: openMongo },
    letters: LETTERS,
    numRuns: sized({ gate: 5, night: 40 }),
    numLargeRuns: sized({ gate: 1, night: 5 }),
  });
});
