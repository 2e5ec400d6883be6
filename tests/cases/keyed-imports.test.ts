import { LOCAL_STORE_NAMES } from '../stores/index.js';
import { AT_NIGHT } from '../support/run-settings.js';
import { randomImports } from './keyed-imports/imports.contract.js';

/** `campaigns/faults/keyed-imports.test.ts` runs many times as many, on every store. */
// No store knows the setting, nor the cells of CSV: the first has most streams.
for (const [place, STORE] of LOCAL_STORE_NAMES.entries())
  for (const REQUIRE_IF_MATCH of ['false', 'true'])
    if (AT_NIGHT || place === 0 || REQUIRE_IF_MATCH === 'false')
      randomImports({ STORE, REQUIRE_IF_MATCH }, AT_NIGHT || place === 0 ? 30 : 10);
