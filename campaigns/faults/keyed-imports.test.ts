/**
 * Sends random imports, with and without `match`, each as a dry run first: every line has the result that it has alone,
 * and that of single requests, and the records are then those of the requests. The lines have right and wrong keys,
 * versions, ids and values, and delete records; few keys come again and again.
 */
import { randomImports } from '../../tests/cases/keyed-imports.contract.js';
import { ALL_STORES } from '../../tests/stores/index.js';

for (const { name, pace } of ALL_STORES) randomImports(name, pace === 'fast' ? 1_000 : 150);
