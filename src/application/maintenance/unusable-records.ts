import type { Diagnosis } from '../ports/diagnostics.js';
import type { StoredTable } from '../ports/table-store.js';

export type ExaminedTable = Pick<StoredTable, 'name' | 'unusableFields'>;

/** A record that is not deleted: its id, and its fields as JSON text or as an object. */
type Row = readonly [id: number, fields: unknown];

/**
 * Names the records that the service leaves out because it cannot use what is stored.
 * @param read returns the records of a table; called for those that may have such records
 */
export async function unusableRecords(
  tables: readonly ExaminedTable[],
  read: (table: string) => Promise<readonly Row[]>,
): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  for (const table of tables)
    if (table.unusableFields) found.push(...unusableRows(table, await read(table.name)));
  return found;
}

export function unusableRows({ name, unusableFields }: ExaminedTable, rows: readonly Row[]): Diagnosis[] {
  return rows.flatMap(([id, stored]) => {
    const names = unusableFields?.(parsed(stored)) ?? [];
    if (names.length === 0) return [];
    return [
      {
        subject: name,
        verdict: 'wrong',
        message: `record ${id} is stored with values that this release does not know: ${names.join(', ')}`,
        remedy: `change or delete /v1/${name}/${id}, or install the release that wrote it`,
      },
    ];
  });
}

/** @returns undefined for a text that is no JSON */
function parsed(stored: unknown): unknown {
  if (typeof stored !== 'string') return stored;
  try {
    return JSON.parse(stored);
  } catch {
    return undefined;
  }
}
