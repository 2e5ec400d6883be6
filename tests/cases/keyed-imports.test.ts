import { LOCAL_STORE_NAMES } from '../stores/index.js';
import { AT_NIGHT } from '../support/run-settings.js';
import { randomImports } from './keyed-imports.contract.js';

/** `campaigns/faults/keyed-imports.test.ts` runs many times as many, on every store. */
for (const [place, STORE] of LOCAL_STORE_NAMES.entries()) randomImports(STORE, AT_NIGHT || place === 0 ? 30 : 15);
