/**
 * Appends the step that the field tables demand to the migrations of each SQL store, and raises the version of derived
 * data if what stores derive has changed: `npm run migration`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { DERIVED_DATA, withVersion } from './derived-version.js';
import { nextStep, SQL_STORES, withStep } from './next-migration.js';
import { print } from './statistics.js';

for (const [name, store] of Object.entries(SQL_STORES)) {
  const step = nextStep(store);
  if (step !== '') writeFileSync(store.file, withStep(readFileSync(store.file, 'utf8'), step));
  print(step === '' ? `The migrations of ${name} make every table, column and index.` : `${name}:\n${step}`);
}

const source = readFileSync(DERIVED_DATA, 'utf8');
if (withVersion(source) !== source) {
  writeFileSync(DERIVED_DATA, withVersion(source));
  print(`${DERIVED_DATA} has another version, or other fingerprints.`);
}
