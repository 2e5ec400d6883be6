/**
 * Sends random imports, with and without `match`, of NDJSON and CSV, each as a dry run first: every line has the result
 * that a model gives it, and the records are then those of the model. The lines have right and wrong keys, versions, ids
 * and values, delete records and exchange their unique values; few keys come again and again.
 */
import { randomImports } from '../../tests/cases/keyed-imports/imports.contract.js';
import { ALL_STORES } from '../../tests/stores/index.js';

for (const { name: STORE, pace } of ALL_STORES)
  for (const REQUIRE_IF_MATCH of ['false', 'true'])
    randomImports({ STORE, REQUIRE_IF_MATCH }, pace === 'fast' ? 500 : 75);
