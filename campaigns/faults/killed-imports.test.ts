/** Kills a process in the middle of an import by SKU, again and again. The import sent again ends as one run does. */
import { killedImportsContract } from '../../tests/contract/killed-imports.contract.js';
import { mongoSettings } from '../../tests/support/mongo-settings.js';

killedImportsContract('SQLite', { STORE: 'sqlite' }, 40);

describe('on one MongoDB', () => {
  killedImportsContract('MongoDB', mongoSettings('killed-imports'), 10);
});
