import { attributeContract } from './repository/attributes.js';
import { busyCountsContract } from './repository/busy-counts.js';
import { busyPagesContract } from './repository/busy-pages.js';
import { caseContract } from './repository/case.js';
import { countContract } from './repository/count.js';
import { everyFieldContract } from './repository/every-field.js';
import { filterContract } from './repository/filter.js';
import { idContract } from './repository/ids.js';
import { insertContract } from './repository/insert.js';
import { insertAllContract } from './repository/insert-all.js';
import { largePagesContract } from './repository/large-pages.js';
import { listContract } from './repository/lists.js';
import { pagingContract } from './repository/paging.js';
import { searchContract } from './repository/search.js';
import { type OpenRepository, TestStore } from './repository/test-store.js';
import { uniqueContract } from './repository/unique.js';
import { writeAllContract } from './repository/write-all.js';
import { writeContract } from './repository/writes.js';

export { codePointOrderContract } from './repository/code-points.js';
export type { OpenRepository } from './repository/test-store.js';
export { writeRacesContract } from './repository/write-all.js';

/**
 * The tests that every repository passes. A new adapter calls this with a function that opens its store.
 * @param hasLarge whether it has the tests of thousands of records, which take long on a server
 */
export function repositoryContract(
  adapter: string,
  open: () => Promise<OpenRepository>,
  hasLarge = true,
): void {
  describe(`the repository contract on ${adapter}`, () => {
    const store = TestStore.forEachTest(open);
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
    if (hasLarge) busyCountsContract(store);
    pagingContract(store);
    busyPagesContract(store);
    largePagesContract(store);
  });
}

/** The tests of filters of lists that every repository passes. They have many cases. */
export function listFilterContract(
  adapter: string,
  open: () => Promise<OpenRepository>,
  hasLarge = true,
): void {
  describe(`the list contract on ${adapter}`, () => listContract(TestStore.forEachTest(open), hasLarge));
}

/** The tests of searches by words that every repository passes. They have many cases. */
export function wordSearchContract(
  adapter: string,
  open: () => Promise<OpenRepository>,
  hasLarge = true,
): void {
  describe(`the search contract on ${adapter}`, () => searchContract(TestStore.forEachTest(open), hasLarge));
}
