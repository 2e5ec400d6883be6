/**
 * Sends bad bodies for each rule of each field by POST, PUT, JSON Patch, merge patch, NDJSON and CSV, and bodies that
 * are no JSON, no patch or no CSV: no response is 5xx, and no record changes. Then writes thousands of random records in all
 * these ways and reads each back from lists, NDJSON and CSV, some by GET: none differs. The texts have every kind of
 * Unicode; the names of attributes are those of JavaScript, MongoDB and SQLite; numbers are at the limits and in
 * several spellings.
 */
import { badBodies, randomRecords } from '../../tests/cases/random-values/values.contract.js';
import { ALL_STORES } from '../../tests/stores/index.js';

badBodies();
for (const { name, pace } of ALL_STORES) randomRecords(name, pace === 'fast' ? 18 : 4);
