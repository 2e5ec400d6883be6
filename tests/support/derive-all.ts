import type { Storage } from '#src/composition/storage.js';

/** Makes the derived data of all stale records. @returns how many they were */
export async function deriveAll({ derived }: Pick<Storage, 'derived'>): Promise<number> {
  let count = 0;
  for (const table of derived?.tables ?? []) while (await table.isStale()) count += (await table.deriveNext()).records;
  return count;
}
