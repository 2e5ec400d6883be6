/** Appends the step that the field tables demand to the migrations of SQLite: `npm run migration`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { MIGRATIONS_FILE, nextStep, withStep } from './next-migration.js';
import { print } from './statistics.js';

const step = nextStep();
if (step === '') print('The migrations make every table, column and index.');
else {
  writeFileSync(MIGRATIONS_FILE, withStep(readFileSync(MIGRATIONS_FILE, 'utf8'), step));
  print(step);
}
