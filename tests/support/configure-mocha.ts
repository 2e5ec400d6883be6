/** Mocha loads this file before the tests of each process: every property has the seed of the run. */
import fc from 'fast-check';
import { TEST_SEED } from './run-settings.js';

fc.configureGlobal({ seed: TEST_SEED });
