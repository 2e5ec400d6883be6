import type { StoredTable } from './table-store.js';

/** `warning`: works, but may surprise. `wrong`: somebody has to do something. */
export type Severity = 'ok' | 'warning' | 'wrong';

/** One result of `catalogue check`, which prints its fields under these names as JSON. */
export interface Diagnosis {
  readonly subject: string;
  readonly verdict: Severity;
  /** One sentence for a person, without secrets. */
  readonly message: string;
  /** What to do; absent if the verdict is `ok`. */
  readonly remedy?: string;
}

export function ok(subject: string, message: string): Diagnosis {
  return { subject, verdict: 'ok', message };
}

export function warning(subject: string, message: string, remedy: string): Diagnosis {
  return { subject, verdict: 'warning', message, remedy };
}

export function wrong(subject: string, message: string, remedy: string): Diagnosis {
  return { subject, verdict: 'wrong', message: message.replace(/\.$/, ''), remedy };
}

/** The diagnoses of another machine or of a store. */
export interface DiagnosticReport {
  readonly diagnoses: readonly Diagnosis[];
  /** A time that the local clock can be compared with, in milliseconds since 1970. */
  readonly time?: TimeReading;
}

export interface TimeReading {
  /** `now`: another clock. `past`: a time that has passed, such as that of the newest record. */
  readonly kind: 'now' | 'past';
  readonly of: string;
  readonly at: number;
  /** The local time of the reading. */
  readonly readAt: number;
}

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
  for (const table of tables) if (table.unusableFields) found.push(...unusableRows(table, await read(table.name)));
  return found;
}

export function unusableRows({ name, unusableFields }: ExaminedTable, rows: readonly Row[]): Diagnosis[] {
  return rows.flatMap(([id, stored]) => {
    const names = unusableFields?.(parsed(stored)) ?? [];
    if (names.length === 0) return [];
    const what = `record ${id} is stored with values that this release does not know: ${names.join(', ')}`;
    return wrong(name, what, `change or delete /v1/${name}/${id}, or install the release that wrote it`);
  });
}

/** @returns undefined for a text that is no JSON */
export function parsed(stored: unknown): unknown {
  if (typeof stored !== 'string') return stored;
  try {
    return JSON.parse(stored);
  } catch {
    return undefined;
  }
}
