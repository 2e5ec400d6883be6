import type { FindCursor } from 'mongodb';
import { MAX_PAGE_BYTES } from '../../../application/list-query.js';
import { documentsUpTo } from './list.js';

/** Documents of a batch; the server ends one earlier at 16 MiB. */
const CHUNK = 250;

/** The first of what is found, in order of `_id`: `limit` at the most, fewer where they come to {@link MAX_PAGE_BYTES}. */
export async function readBatch<Kind extends object>(
  found: FindCursor<Kind>,
  limit: number,
  maxTimeMS: number,
): Promise<Kind[]> {
  const cursor = found.sort({ _id: 1 }).limit(limit).batchSize(CHUNK).maxTimeMS(maxTimeMS);
  return (await documentsUpTo(limit, MAX_PAGE_BYTES, cursor)).documents;
}
