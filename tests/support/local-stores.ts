import type { QueryBudget } from '#src/application/maintenance/query-budget.js';
import type { StoreName } from '#src/composition/stores/index.js';
import type { OpenRepository } from '../contract/repository.contract.js';
import { openMemory } from './open-memory.js';
import { openSqlite } from './open-sqlite.js';

export type LocalStore = Exclude<StoreName, 'mongodb' | 'postgresql'>;

/** @param folder for files, which are gone when the store is closed */
type OpenStore = (folder: string, budget?: QueryBudget) => Promise<OpenRepository>;

/** The stores that need no server. A new one does not compile without an entry. */
const OPEN: Readonly<Record<LocalStore, OpenStore>> = {
  memory: (_folder, budget) => openMemory(budget),
  sqlite: openSqlite,
};

export const LOCAL_STORES = Object.entries(OPEN) as readonly (readonly [LocalStore, OpenStore])[];

export const LOCAL_STORE_NAMES: readonly LocalStore[] = LOCAL_STORES.map(([name]) => name);
