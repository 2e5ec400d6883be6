/** Writes docs/reference/errors.md: `npm run docs:errors`. */
import { writeFileSync } from 'node:fs';
import { ERROR_DOCUMENT, errorDocument } from './error-document.js';

writeFileSync(ERROR_DOCUMENT, errorDocument());
