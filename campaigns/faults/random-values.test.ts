/**
 * Sends bad bodies for each rule of each field by POST, PUT, JSON Patch, merge patch, NDJSON and CSV, and bodies that
 * are no JSON, no patch or no CSV: no response is 5xx, and no record changes. Then writes 10,000 random records in all
 * these ways and reads each back from lists, NDJSON and CSV, some by GET: none differs. The texts have every kind of
 * Unicode; the names of attributes are those of JavaScript, MongoDB and SQLite; numbers are at the limits and in
 * several spellings.
 */
import { badBodies, randomRecords } from '../../tests/cases/random-values/values.contract.js';
import { mongoSettings } from '../../tests/support/mongo-settings.js';

badBodies();
randomRecords({ STORE: 'memory' }, 6_000);
randomRecords({ STORE: 'sqlite' }, 3_000);
randomRecords(mongoSettings('values'), 1_000);
