import type { TestStoreProvider } from '../stores/provider.js';
import { AT_NIGHT } from '../support/run-settings.js';
import { busyCountsContract } from './repository/busy-counts.js';
import { busyPagesContract } from './repository/busy-pages.js';
import { everyFieldContract } from './repository/every-field.js';
import { insertAllContract } from './repository/insert-all.js';
import { largePagesContract } from './repository/large-pages.js';
import { listContract } from './repository/lists.js';
import { searchContract } from './repository/search.js';
import { TestStore } from './repository/test-store.js';
import { uniqueContract } from './repository/unique.js';
import { writeAllContract } from './repository/write-all.js';

export { writeRacesContract } from './repository/write-all.js';

/** Whether the store has the tests of thousands of records, which take long on a slow one. */
const hasLarge = ({ pace }: TestStoreProvider) => pace === 'fast' || AT_NIGHT;

/** The tests that every repository passes. */
export function repositoryContract(provider: TestStoreProvider): void {
  describe(`the repository contract on ${provider.name}`, () => {
    const store = TestStore.forEachTest(provider);
    insertAllContract(store);
    uniqueContract(store);
    writeAllContract(store);
    everyFieldContract(store);
    listContract(store);
    searchContract(store, hasLarge(provider));
    if (hasLarge(provider)) busyCountsContract(store);
    busyPagesContract(store);
    largePagesContract(store);
  });
}
