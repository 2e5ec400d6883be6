import type { TestStoreProvider } from '../stores/provider.js';
import { AT_NIGHT } from '../support/run-settings.js';
import { attributeContract } from './repository/attributes.js';
import { busyCountsContract } from './repository/busy-counts.js';
import { busyPagesContract } from './repository/busy-pages.js';
import { caseContract } from './repository/case.js';
import { countContract } from './repository/count.js';
import { everyFieldContract } from './repository/every-field.js';
import { facetContract } from './repository/facets.js';
import { filterContract } from './repository/filter.js';
import { idContract } from './repository/ids.js';
import { insertContract } from './repository/insert.js';
import { insertAllContract } from './repository/insert-all.js';
import { largePagesContract } from './repository/large-pages.js';
import { listContract } from './repository/lists.js';
import { orderContract } from './repository/orders.js';
import { pagingContract } from './repository/paging.js';
import { searchContract } from './repository/search.js';
import { TestStore } from './repository/test-store.js';
import { uniqueContract } from './repository/unique.js';
import { writeAllContract } from './repository/write-all.js';
import { writeContract } from './repository/writes.js';

export { codePointOrderContract } from './repository/code-points.js';
export { writeRacesContract } from './repository/write-all.js';

/** Whether the store has the tests of thousands of records, which take long on a slow one. */
const hasLarge = ({ pace }: TestStoreProvider) => pace === 'fast' || AT_NIGHT;

/** The tests that every repository passes. */
export function repositoryContract(provider: TestStoreProvider): void {
  describe(`the repository contract on ${provider.name}`, () => {
    const store = TestStore.forEachTest(provider);
    idContract(store);
    insertContract(store);
    insertAllContract(store);
    uniqueContract(store);
    writeContract(store);
    writeAllContract(store);
    filterContract(store);
    everyFieldContract(store);
    attributeContract(store);
    caseContract(store);
    countContract(store);
    facetContract(store, hasLarge(provider));
    orderContract(store);
    if (hasLarge(provider)) busyCountsContract(store);
    pagingContract(store);
    busyPagesContract(store);
    largePagesContract(store);
  });
}

/** The tests of filters of lists that every repository passes. They have many cases. */
export function listFilterContract(provider: TestStoreProvider): void {
  describe(`the list contract on ${provider.name}`, () =>
    listContract(TestStore.forEachTest(provider), hasLarge(provider)));
}

/** The tests of searches by words that every repository passes. They have many cases. */
export function wordSearchContract(provider: TestStoreProvider): void {
  describe(`the search contract on ${provider.name}`, () =>
    searchContract(TestStore.forEachTest(provider), hasLarge(provider)));
}
