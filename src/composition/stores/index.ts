import Joi from 'joi';
import { StoreConfigError } from '../../application/ports/store.js';
import { MONGODB } from './mongodb.js';
import { POSTGRESQL } from './postgresql.js';
import type { KeptStore, StoreRegistration } from './registration.js';
import { SQLITE } from './sqlite.js';

/** Any stores. A function over them takes another list only in tests. */
export type Stores = Readonly<Record<string, StoreRegistration>>;

const MEMORY: StoreRegistration = {
  processes: 'one',
  settings: {},
  load: async () => (await import('../../adapters/outbound/memory/storage.js')).memoryStorage,
};

/** For each value of the setting STORE, which is also the name of the database in traces: the store. */
export const STORES = {
  sqlite: SQLITE,
  memory: MEMORY,
  mongodb: MONGODB,
  postgresql: POSTGRESQL,
} satisfies Stores;

export type StoreName = keyof typeof STORES;

export type StoreSettings = Readonly<
  Record<{ [Name in StoreName]: keyof (typeof STORES)[Name]['settings'] }[StoreName], string>
>;

/** What somebody must know who chose a store of which nothing outlives the process. */
export function forgetsEverything(name: string): string {
  return `STORE=${name} forgets everything when the process ends`;
}

/** The names of the stores that fulfil this, for a person: `sqlite or mongodb`. */
export function storesWith(condition: (store: StoreRegistration) => boolean, stores: Stores = STORES): string {
  return anyOf(Object.keys(stores).filter((name) => condition(stores[name] as StoreRegistration)));
}

/** The URLs by which `catalogue copy` names stores, for a person: `sqlite:FILE or mongodb://HOST/DATABASE`. */
export function storeUrlForms(stores: Stores = STORES): string {
  return anyOf(Object.values(stores).flatMap(({ kept }) => kept?.urlForm ?? []));
}

/** The store that a URL names. */
export interface StoreAt {
  readonly store: StoreRegistration;
  readonly kept: KeptStore;
  /** What the URL stands for. */
  readonly settings: object;
}

/**
 * Undefined: no store has such a URL.
 * @throws StoreConfigError, which quotes nothing of the URL
 */
export function storeAt(url: string, stores: Stores = STORES): StoreAt | undefined {
  for (const store of Object.values(stores)) {
    const { kept } = store;
    const settings = kept?.settingsOf(url);
    if (!kept || !settings) continue;
    const { error } = Joi.object(store.settings).validate(settings, { errors: { wrap: { label: false } } });
    if (error) throw new StoreConfigError(`${error.message}.`);
    return { store, kept, settings };
  }
  return undefined;
}

function anyOf(texts: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(texts);
}
