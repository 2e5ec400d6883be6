import { requireFinished } from '../application/maintenance/copy.js';
import type { Archives } from '../application/ports/archive.js';
import type { FeedState } from '../application/ports/change-feed.js';
import type { DerivedData } from '../application/ports/derived-data.js';
import { type Observer, observeCall, type StoreCall } from '../application/ports/observer.js';
import type { Repository } from '../application/ports/repository.js';
import type { Store } from '../application/ports/store.js';
import type { Purgeable, StorageParts, StoredTable, TableStore } from '../application/ports/table-store.js';
import type { UsageStore } from '../application/ports/usage-store.js';
import {
  type ChangeFeeds,
  changeFeeds,
  EXPIRING_TABLES,
  type IdempotencyStores,
  idempotencyStores,
  RESOURCE_TABLES,
  type Repositories,
  repositories,
  TABLES,
} from './tables.js';

export interface Storage extends Repositories {
  readonly store: Store;
  readonly reservations: IdempotencyStores;
  readonly changes: ChangeFeeds;
  readonly feedState: FeedState;
  /** The usage of API keys, which no copy contains. */
  readonly usage: UsageStore;
  /** Empty if nothing outlives the process. */
  readonly archives: Archives;
  /** The entries that the service must purge; empty if the store purges them itself. */
  readonly purgeable: readonly Purgeable[];
  readonly derived: DerivedData | undefined;
}

/** Returns a port whose calls are observed. */
type Observe = <Port extends object>(port: Port, collection?: string) => Port;

/**
 * Makes the storage of all tables: what the service must purge, and what a copy carries.
 * @param observe of all ports but the archives, which only a copy uses, the state of the feeds, and derived data
 */
export function storageOf(parts: StorageParts, observe: Observe = (port) => port): Storage {
  const { store, feedState, usage, expiringUsage, unfinishedCopy } = parts;
  const all = new Map(TABLES.map((table) => [table, parts.table(table)]));
  const of = (table: StoredTable) => all.get(table) as TableStore<object>;
  const purgeable = [
    ...RESOURCE_TABLES.flatMap((table) => of(table).expiring?.reservations ?? []),
    ...EXPIRING_TABLES.flatMap((table) => of(table).expiring?.tombstones ?? []),
    ...(expiringUsage ? [expiringUsage] : []),
  ];
  const archives: Archives = {
    records: TABLES.flatMap((table) => of(table).archives?.records ?? []),
    reservations: RESOURCE_TABLES.flatMap((table) => of(table).archives?.reservations ?? []),
    ...(unfinishedCopy && { unfinished: unfinishedCopy }),
  };
  return {
    store: observe(withFinishedCopy(store, archives)),
    ...repositories(
      <Fields extends object>(table: StoredTable) => observe(of(table).records, table.name) as Repository<Fields>,
    ),
    reservations: idempotencyStores((table) => observe(of(table).reservations, `${table.name}_reservations`)),
    changes: changeFeeds((table) => observe(of(table).changes, table.name)),
    feedState,
    usage: observe(usage, 'api_key_usage'),
    archives,
    derived: parts.derived,
    purgeable: purgeable.map((entries) => observe(entries)),
  };
}

/** The methods that are no calls: the end of the process, and figures of the process itself. */
const UNOBSERVED = ['constructor', 'close', 'pools'];

/** Returns a function that observes every method of a port, and inherits everything else of it. */
export function observedBy(observers: readonly Observer[], system: string): Observe {
  return (port, collection) => {
    const calls = methodsOf(port).map(([operation, method]) => {
      const call: StoreCall = { system, operation, ...(collection !== undefined && { collection }) };
      return [operation, (...args: unknown[]) => observeCall(observers, call, () => method.apply(port, args))];
    });
    return Object.assign(Object.create(port), Object.fromEntries(calls));
  };
}

type Method = (...args: unknown[]) => Promise<unknown>;

function methodsOf(port: object | null): [name: string, method: Method][] {
  if (port === null || port === Object.prototype) return [];
  const own = Object.entries(Object.getOwnPropertyDescriptors(port)).flatMap(([name, { value }]): [string, Method][] =>
    typeof value === 'function' && !UNOBSERVED.includes(name) ? [[name, value]] : [],
  );
  return [...methodsOf(Object.getPrototypeOf(port)), ...own];
}

/** Returns the store; it does not open before a copy to it has ended. */
function withFinishedCopy(store: Store, archives: Archives): Store {
  return {
    location: store.location,
    open: async () => {
      await store.open();
      await requireFinished(archives, store.location);
    },
    ping: () => store.ping(),
    ...(store.pools && { pools: () => store.pools?.() ?? [] }),
    close: () => store.close(),
  };
}
