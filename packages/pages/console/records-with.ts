import type { EditableCollection } from '#packages/client/index.js';
import type { AnyTypes, CatalogueRecord } from './types.js';

/** The most values of a filter such as `id.in`. */
const MOST_VALUES = 100;

/**
 * Reads records by the values of a field. Those that are gone are left out.
 * @param fields absent: all that a list shows
 */
export async function* recordsWith(
  collection: EditableCollection<AnyTypes>,
  field: string,
  values: Iterable<number | string>,
  { fields, signal }: { readonly fields?: readonly string[]; readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<CatalogueRecord, void, void> {
  const all = [...values];
  for (let at = 0; at < all.length; at += MOST_VALUES) {
    const query = {
      [`${field}.in`]: all.slice(at, at + MOST_VALUES),
      limit: MOST_VALUES,
      ...(fields && { fields: fields as never[] }),
    };
    yield* (await collection.page<never>(query, signal && { signal })).records as readonly CatalogueRecord[];
  }
}
