import { randomImports } from '../cases/keyed-imports/imports.contract.js';
import { mongoSettings } from '../support/mongo-settings.js';
import { AT_NIGHT } from '../support/run-settings.js';

/** `tests/cases/keyed-imports.test.ts` does the same on the stores that need no server. */
randomImports(mongoSettings('keyed-imports'), AT_NIGHT ? 10 : 3);
