import { queryProperty } from '../contract/query-property.js';
import { LETTERS } from '../contract/query-scenarios.js';
import { isStandIn } from '../support/mongo-stand-in.js';
import { mongoUrl } from '../support/mongo-url.js';
import { openMemory } from '../support/open-memory.js';
import { openMongo } from '../support/open-mongo.js';
import { openSqlite } from '../support/open-sqlite.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** The stand-in orders by UTF-16 unit: astral characters stand right behind U+D7FF there, before U+E000 to U+FFFF. */
const inOrder = (await isStandIn(mongoUrl('admin')))
  ? LETTERS.filter((letter) => !/[\ud7ff\ue000-\uffff]/u.test(letter))
  : LETTERS;

describe('memory, SQLite and MongoDB', () => {
  const folder = temporaryFolder();

  queryProperty({
    stores: { memory: openMemory, SQLite: (budget) => openSqlite(folder, budget), MongoDB: openMongo },
    letters: inOrder,
    numRuns: 40,
    numLargeRuns: 5,
  });
});
