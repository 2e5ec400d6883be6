import { randomImports } from '../cases/keyed-imports/imports.contract.js';
import { mongoSettings } from '../support/mongo-settings.js';

/** `tests/cases/keyed-imports.test.ts` does the same on the stores that need no server. */
randomImports(mongoSettings('keyed-imports'), 10);
