import type { FindCursor } from 'mongodb';

/** The first of what is found, in order of `_id`, in one batch. */
export function followers<Kind>(found: FindCursor<Kind>, limit: number): Promise<Kind[]> {
  return found.sort({ _id: 1 }).limit(limit).batchSize(limit).toArray();
}
