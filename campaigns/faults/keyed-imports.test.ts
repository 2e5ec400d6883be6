/**
 * Sends random imports, with and without `match`, of NDJSON and CSV, each as a dry run first: every line has the result
 * that a model gives it, and the records are then those of the model. The lines have right and wrong keys, versions, ids
 * and values, delete records and exchange their unique values; few keys come again and again.
 */
import { randomImports } from '../../tests/cases/keyed-imports/imports.contract.js';
import { mongoSettings } from '../../tests/support/mongo-settings.js';

for (const REQUIRE_IF_MATCH of ['false', 'true']) {
  randomImports({ STORE: 'memory', REQUIRE_IF_MATCH }, 1_000);
  randomImports({ STORE: 'sqlite', REQUIRE_IF_MATCH }, 300);
}
randomImports(mongoSettings('keyed-imports'), 100);
randomImports(Object.assign(mongoSettings('keyed-imports'), { REQUIRE_IF_MATCH: 'true' }), 50);
