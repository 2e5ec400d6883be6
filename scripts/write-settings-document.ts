/** Writes docs/reference/settings.md: `npm run docs:settings`. */
import { writeFileSync } from 'node:fs';
import { SETTINGS_DOCUMENT, settingsDocument } from './settings-document.js';

writeFileSync(SETTINGS_DOCUMENT, settingsDocument());
