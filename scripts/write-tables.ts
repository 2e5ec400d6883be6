/** Writes the generated blocks of docs/reference/api.md and docs/how-to/mongodb.md: `npm run docs:tables`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { PAGES_WITH_TABLES, withTables } from './field-tables.js';

for (const page of Object.keys(PAGES_WITH_TABLES))
  writeFileSync(page, withTables(readFileSync(page, 'utf8')));
