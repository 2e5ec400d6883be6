import type { EditableCollection } from '#packages/client/index.js';
import { recordsWith } from '../records-with.js';
import { linesFile } from '../transfer/files.js';
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
  selected: Selected,
  fields: readonly string[],
  lineOf: (record: CatalogueRecord, skip: (why: Skipped) => void) => object | undefined,
): Promise<Plan> {
  const ids: number[] = [];
  const skipped = new Map<Skipped, number>();
  let unchanged = 0;
  const missing = new Set(selected.ids);
  const shown = ['id', 'version', ...fields];
  async function* records() {
    if (selected.query) yield* collection.export({ ...selected.query, fields: shown });
    yield* recordsWith(collection, 'id', missing, { fields: shown });
  }
  async function* lines() {
    for await (const record of records() as AsyncIterable<CatalogueRecord>) {
      if (!missing.delete(record.id)) continue;
      let isSkipped = false;
      const line = lineOf(record, (why) => {
        isSkipped = true;
        skipped.set(why, (skipped.get(why) ?? 0) + 1);
      });
      if (!line && !isSkipped) unchanged++;
      if (!line) continue;
      ids.push(record.id);
      yield { id: record.id, version: record['version'], ...line };
    }
  }
  const file = await linesFile('change.ndjson', lines());
  return { file, ids, unchanged, skipped, gone: missing.size };
}
