import { AT_NIGHT } from '../support/run-settings.js';
import { randomImports } from './keyed-imports/imports.contract.js';

/** `campaigns/faults/keyed-imports.test.ts` runs many times as many, on MongoDB too. */
for (const STORE of ['memory', 'sqlite'])
  for (const REQUIRE_IF_MATCH of ['false', 'true'])
    randomImports({ STORE, REQUIRE_IF_MATCH }, AT_NIGHT ? 30 : 12);
