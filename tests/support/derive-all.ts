import type { Storage } from '#src/composition/storage.js';
import { AppError } from '#src/domain/errors.js';

/**
 * Makes the derived data of all stale records. It goes on after `unavailable`, as the service does: two processes that
 * make the same records can deadlock, so that the store gives up the batch of one.
 * @returns how many they were
 */
export async function deriveAll({ derived }: Pick<Storage, 'derived'>): Promise<number> {
  let count = 0;
  for (const table of derived?.tables ?? [])
    while (await table.isStale()) {
      const { records } = await table.deriveNext().catch(unlessUnavailable);
      count += records;
    }
  return count;
}

function unlessUnavailable(error: unknown): { readonly records: number } {
  if (error instanceof AppError && error.code === 'unavailable') return { records: 0 };
  throw error;
}
