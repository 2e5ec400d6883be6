import type { CreatedStore } from '../../tests/stores/provider.js';

/** The databases of this run. */
const created: CreatedStore[] = [];

/** Returns a function that makes an empty database at its first call, and always returns the settings of that one. */
export function databaseOf(create: () => Promise<CreatedStore>): () => Promise<CreatedStore['settings']> {
  let database: Promise<CreatedStore> | undefined;
  return async () => {
    database ??= create();
    const store = await database;
    if (!created.includes(store)) created.push(store);
    return store.settings;
  };
}

export async function removeDatabases(): Promise<void> {
  for (const { remove } of created.splice(0)) await remove();
}
