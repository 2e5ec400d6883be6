import type { RecordTable } from '../../../application/list-query.js';
import { type FieldSet, type FieldTraits, METADATA } from '../../../domain/fields.js';

/** @throws Error where the table has no such field: a name never gets into a query unseen */
export function specOf({ name, fields }: RecordTable, field: string): FieldTraits {
  const all: FieldSet = { ...METADATA, ...fields };
  const traits = Object.hasOwn(all, field) ? all[field] : undefined;
  if (!traits) throw new Error(`The table ${name} has no field ${field}.`);
  return traits;
}

/** Where a document holds a field of its record. */
export function fieldPath(field: string): string {
  if (field === 'id') return '_id';
  return Object.hasOwn(METADATA, field) ? field : `fields.${field}`;
}

/** Where a document holds the copy without case of a field that ignores it. */
export function foldedPath(field: string): string {
  return `folded.${field}`;
}

/** Where a document holds what no other document of its collection may hold. */
export function uniquePath({ fields }: RecordTable, field: string): string {
  return fields[field]?.ignoresCase ? foldedPath(field) : fieldPath(field);
}
