import type { Document } from 'mongodb';
import type { Tombstone } from '../../../application/ports/archive.js';
import { fieldValue } from '../../../application/record-order.js';
import type { Id, Versioned } from '../../../domain/record.js';
import { foldCase } from '../../../domain/text.js';
import type { MongoTable } from './table.js';

export interface LiveDocument {
  readonly _id: Id;
  /** Set on records and absent from tombstones: the index over it holds just what a list may show. */
  readonly live: true;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly fields: Document;
  /** Copies without case of the fields that ignore it: by them such values are told apart. */
  readonly folded?: Document;
}

export interface TombstoneDocument {
  readonly _id: Id;
  readonly deletedAt: Date;
}

export type StoredDocument = LiveDocument | TombstoneDocument;

export interface CounterDocument {
  readonly _id: string;
  /** How many ids were set aside. */
  readonly reserved: number;
}

export const COUNTERS = 'counters';

export function documentOf<Fields>(table: MongoTable<Fields>, record: Versioned<Fields>): LiveDocument {
  const { id, version, createdAt, updatedAt, fields } = record;
  return {
    _id: id,
    live: true,
    version,
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
    fields: table.toDocument(fields),
    ...foldedCopies(table, record),
  };
}

function foldedCopies<Fields>(
  { fields }: MongoTable<Fields>,
  record: Versioned<Fields>,
): Pick<LiveDocument, 'folded'> {
  const copies = Object.keys(fields)
    .filter((field) => fields[field]?.ignoresCase)
    .map((field) => [field, fieldValue(record, field)] as const)
    .filter(([, value]) => value !== undefined);
  if (copies.length === 0) return {};
  return { folded: Object.fromEntries(copies.map(([field, value]) => [field, foldCase(String(value))])) };
}

export function recordOf<Fields>(table: MongoTable<Fields>, document: LiveDocument): Versioned<Fields> {
  const { _id: id, version, createdAt, updatedAt, fields } = document;
  return {
    id,
    version,
    createdAt: createdAt.getTime(),
    updatedAt: updatedAt.getTime(),
    fields: table.toFields(fields),
  };
}

export function tombstoneDocumentOf({ id, deletedAt }: Tombstone): TombstoneDocument {
  return { _id: id, deletedAt: new Date(deletedAt) };
}
