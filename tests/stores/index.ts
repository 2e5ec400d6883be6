import type { StoreName } from '#src/composition/stores/index.js';
import { HTTP_STORES } from '../support/run-settings.js';
import { MEMORY } from './memory.js';
import { MONGODB } from './mongodb.js';
import { POSTGRESQL } from './postgresql.js';
import { type CreatedStore, isKept, isShared, type TestStoreProvider } from './provider.js';
import { SQLITE } from './sqlite.js';

/** Every store. Nothing compiles without an entry for each value of the setting STORE. */
export const TEST_STORES: Readonly<Record<StoreName, TestStoreProvider>> = {
  memory: MEMORY,
  sqlite: SQLITE,
  mongodb: MONGODB,
  postgresql: POSTGRESQL,
};

/** The stores for which this computer has a server, or that need none. */
export const ALL_STORES = Object.values(TEST_STORES).filter(({ isMissing }) => !isMissing);

/**
 * Makes an empty store for a service.
 * @param environment settings of the service, with STORE; without it, the store is in memory
 * @param folder of its files, if it has files; the caller removes it
 */
export function createStore(
  { STORE = 'memory' }: Readonly<Record<string, string>>,
  folder: string,
): Promise<CreatedStore> {
  return TEST_STORES[STORE as StoreName].create(folder);
}

/** The stores of `npm test`. */
export const LOCAL_STORES = ALL_STORES.filter(({ isLocal }) => isLocal);

export const LOCAL_STORE_NAMES = LOCAL_STORES.map(({ name }) => name);

/** The stores on which the tests of the HTTP interface run. */
export const HTTP_STORE_NAMES =
  HTTP_STORES === 'others'
    ? LOCAL_STORE_NAMES.filter((name) => name !== 'memory')
    : HTTP_STORES.split(',').map(storeNamed);

/** The stores that need a server which `npm test` does not have. */
export const SERVER_STORES = ALL_STORES.filter(({ isLocal }) => !isLocal);

/** The settings of every store with a server, for a server that nobody runs. @param password as an address has it */
export function unreachableServers(password: string): Record<string, string> {
  return Object.assign({}, ...ALL_STORES.map(({ unreachable }) => unreachable?.(password)));
}

/** The stores that several processes can have open at once. */
export const SHARED_STORES = ALL_STORES.filter(isShared);

/** The stores on servers, which replicas on several machines share. */
export const REPLICATED_STORES = SHARED_STORES.filter(({ startServer }) => startServer);

/** The stores whose data outlives the process. */
export const KEPT_STORES = ALL_STORES.filter(isKept);

/** @throws Error if this is no store of {@link LOCAL_STORES}: no test would run on it */
function storeNamed(name: string): StoreName {
  const store = LOCAL_STORES.find((one) => one.name === name);
  if (!store) throw new Error(`HTTP_STORES names ${name}, but there is only ${LOCAL_STORE_NAMES.join(', ')}.`);
  return store.name;
}
