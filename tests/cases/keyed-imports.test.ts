import { LOCAL_STORE_NAMES } from '../stores/index.js';
import { AT_NIGHT } from '../support/run-settings.js';
import { randomImports } from './keyed-imports/imports.contract.js';

/** `campaigns/faults/keyed-imports.test.ts` runs many times as many, on every store. */
for (const STORE of LOCAL_STORE_NAMES)
  for (const REQUIRE_IF_MATCH of ['false', 'true'])
    randomImports({ STORE, REQUIRE_IF_MATCH }, AT_NIGHT ? 30 : 12);
