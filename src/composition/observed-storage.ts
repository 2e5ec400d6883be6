import type { ChangeFeed } from '../application/ports/change-feed.js';
import type { IdempotencyStore } from '../application/ports/idempotency-store.js';
import type { Purgeable } from '../application/ports/purgeable.js';
import type { Repository } from '../application/ports/repository.js';
import type { SearchIndex } from '../application/ports/search-index.js';
import type { Store } from '../application/ports/store.js';
import {
  allObservers,
  observeCall,
  type StoreCall,
  type StoreObserver,
} from '../application/ports/store-observer.js';
import type { UsageStore } from '../application/ports/usage-store.js';
import type { Settings } from '../config/settings.js';
import type { Storage } from './storage.js';
import { type ChangeFeeds, type IdempotencyStores, RECORD_TABLES, type Repositories } from './tables.js';

/** The methods that are observed. A method that the port lacks, or one that is missing here, does not compile. */
const REPOSITORY = methods<Repository<unknown>>({
  reserveIds: true,
  releaseIds: true,
  insertAll: true,
  find: true,
  confirmAll: true,
  findExistingIds: true,
  findUsedIds: true,
  findByUnique: true,
  findAllByUnique: true,
  list: true,
  count: true,
  facets: true,
  replaceAll: true,
  removeAll: true,
});
const IDEMPOTENCY_STORE = methods<IdempotencyStore>({ find: true, reserve: true });
const CHANGE_FEED = methods<ChangeFeed<unknown>>({ end: true, read: true });
const USAGE_STORE = methods<UsageStore>({ save: true, find: true });
const STORE = methods<Omit<Store, 'location' | 'pools'>>({ open: true, ping: true, close: false });
const SEARCH_INDEX = methods<Omit<SearchIndex, 'name'>>({ indexNext: true });
const PURGEABLE = methods<Omit<Purgeable, 'retentionMs'>>({ purgeBefore: true });

/**
 * Returns a storage whose calls are observed, except those of the archives, which only a copy uses. Without an observer
 * it returns the storage itself.
 */
export function observedStorage(
  storage: Storage,
  system: Settings['STORE'],
  observers: readonly StoreObserver[],
): Storage {
  const observer = allObservers(observers);
  if (!observer) return storage;
  const observe = <Port extends object>(port: Port, names: readonly string[], collection?: string): Port =>
    observed(port, names, { system, ...(collection !== undefined && { collection }) }, observer);
  const tables = Object.entries(RECORD_TABLES) as [keyof Repositories, { readonly name: string }][];
  const repositories = tables.map(([key, { name }]) => [key, observe(storage[key], REPOSITORY, name)]);
  const reservations = tables
    .filter(([key]) => key in storage.reservations)
    .map(([key, { name }]) => {
      const store = storage.reservations[key as keyof IdempotencyStores];
      return [key, observe(store, IDEMPOTENCY_STORE, `${name}_reservations`)];
    });
  const changes = Object.entries(storage.changes).map(([key, feed]) => [
    key,
    feed && observe(feed, CHANGE_FEED, RECORD_TABLES[key as keyof ChangeFeeds].name),
  ]);
  return {
    ...(Object.fromEntries(repositories) as Repositories),
    changes: Object.fromEntries(changes) as ChangeFeeds,
    feedState: storage.feedState,
    store: observe(storage.store, STORE),
    usage: observe(storage.usage, USAGE_STORE, 'api_key_usage'),
    reservations: Object.fromEntries(reservations) as IdempotencyStores,
    archives: storage.archives,
    purgeable: storage.purgeable.map((purgeable) => observe(purgeable, PURGEABLE)),
    searchIndexes: storage.searchIndexes.map((index) => observe(index, SEARCH_INDEX, index.name)),
  };
}

function methods<Port>(names: Readonly<Record<keyof Port & string, boolean>>): readonly string[] {
  return Object.keys(names).filter((name) => names[name as keyof Port & string]);
}

type Method = (...args: readonly unknown[]) => Promise<unknown>;

/** Everything that is not observed is inherited from the port. */
function observed<Port extends object>(
  port: Port,
  names: readonly string[],
  described: Omit<StoreCall, 'operation'>,
  observer: StoreObserver,
): Port {
  const wrappers = names.map((operation) => {
    const call: StoreCall = Object.freeze({ ...described, operation });
    const method = (port as Record<string, unknown>)[operation] as Method;
    return [operation, (...args: unknown[]) => observeCall(observer, call, () => method.apply(port, args))];
  });
  return Object.assign(Object.create(port) as Port, Object.fromEntries(wrappers));
}
