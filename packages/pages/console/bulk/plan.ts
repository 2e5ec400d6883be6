import type { EditableCollection } from '#packages/client/index.js';
import { Lines } from '../transfer/lines.js';
import { recordsWith } from '../transfer/run-history.js';
import type { AnyTypes, CatalogueRecord } from '../types.js';
import type { Skipped } from './changes.js';

/** The lines of an import that makes a bulk change, and what it leaves out. */
export interface Plan {
  readonly file: File;
  /** The ids of the records, by the numbers of their lines from 1. */
  readonly ids: readonly number[];
  /** Records that are so already. */
  readonly unchanged: number;
  readonly skipped: ReadonlyMap<Skipped, number>;
  /** Records that somebody has deleted. */
  readonly gone: number;
}

export interface Selected {
  readonly ids: ReadonlySet<number>;
  /** The query of the list that has them all, which is read in one response; undefined if only the ids are known. */
  readonly query: Readonly<Record<string, string>> | undefined;
}

/**
 * Reads the selected records, and writes a line for each that changes, with its version.
 * @param lineOf what a line says besides id and version; undefined if it would change nothing
 */
export async function planOf(
  collection: EditableCollection<AnyTypes>,
  { ids, query }: Selected,
  fields: readonly string[],
  lineOf: (record: CatalogueRecord, skip: (why: Skipped) => void) => object | undefined,
  signal: AbortSignal,
): Promise<Plan> {
  const lines = new Lines();
  const changing: number[] = [];
  const skipped = new Map<Skipped, number>();
  let unchanged = 0;
  const missing = new Set(ids);
  const add = (record: CatalogueRecord) => {
    if (!missing.delete(record.id)) return;
    let isSkipped = false;
    const line = lineOf(record, (why) => {
      isSkipped = true;
      skipped.set(why, (skipped.get(why) ?? 0) + 1);
    });
    if (line) {
      changing.push(record.id);
      lines.add({ id: record.id, version: record['version'], ...line });
    } else if (!isSkipped) unchanged++;
  };
  const shown = ['id', 'version', ...fields];
  if (query)
    for await (const record of collection.export({ ...query, fields: shown }, { signal }))
      add(record as CatalogueRecord);
  for await (const record of recordsWith(collection, missing, shown, signal)) add(record);
  return { file: lines.asFile('change.ndjson'), ids: changing, unchanged, skipped, gone: missing.size };
}
