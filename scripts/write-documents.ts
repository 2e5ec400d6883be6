/** Writes every generated page and block of `docs`: `npm run docs`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { PAGES_WITH_TABLES, withTables } from './field-tables.js';
import { SETTINGS_DOCUMENT, settingsDocument } from './settings-document.js';

writeFileSync(SETTINGS_DOCUMENT, settingsDocument());
for (const page of Object.keys(PAGES_WITH_TABLES)) writeFileSync(page, withTables(readFileSync(page, 'utf8')));
