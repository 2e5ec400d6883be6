import type { Id, Instant, Versioned } from '../../../domain/record.js';

/** As in {@link RECORD_COLUMNS}. */
export type RecordRow = [id: Id, version: number, createdAt: Instant, updatedAt: Instant, fields: string];

export const RECORD_COLUMNS = 'id, version, created_at, updated_at, fields';

/** A copy, so that what becomes of the record later changes nothing that waits to be written. */
export function rowOf({ id, version, createdAt, updatedAt, fields }: Versioned<unknown>): RecordRow {
  return [id, version, createdAt, updatedAt, JSON.stringify(fields)];
}

export function recordOf<Fields>([id, version, createdAt, updatedAt, fields]: RecordRow): Versioned<Fields> {
  return { id, version, createdAt, updatedAt, fields: JSON.parse(fields) as Fields };
}
