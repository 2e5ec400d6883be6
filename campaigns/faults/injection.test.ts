/**
 * Sends hostile texts to every store with a query language: SQL, operators of MongoDB, queries of FTS5, regular expressions, programs,
 * templates, paths, prototypes, spreadsheets, pages, headers and terminals. Each is stored and shown unchanged, or
 * refused where the field cannot have it. Every filter and search finds exactly the records of a reference in the test.
 * Undeclared names are refused in every way to write, filter, sort and choose fields.
 */
import { expect } from 'chai';
import { hostileTexts } from '../../tests/cases/injection.contract.js';
import { CONTROL_PAYLOADS, PAYLOADS, UNDECLARED } from '../../tests/cases/payloads.js';
import { KEPT_STORES } from '../../tests/stores/index.js';

const ALL = { payloads: PAYLOADS, controls: CONTROL_PAYLOADS, undeclared: UNDECLARED };

for (const { name } of KEPT_STORES) hostileTexts(name, ALL);

it('there are at least 280 hostile texts', () => {
  expect(PAYLOADS.length + CONTROL_PAYLOADS.length).to.be.at.least(280);
});
