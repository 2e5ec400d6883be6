import type { Storage } from '#src/composition/storage.js';

/** Indexes the words of all records that lack current ones. */
export async function indexAll({ searchIndexes }: Pick<Storage, 'searchIndexes'>): Promise<void> {
  for (const index of searchIndexes) while ((await index.indexNext(250)) > 0);
}
