import { type Document, Long } from 'mongodb';
import type { RecordEntry, Tombstone } from '../../../application/ports/archive.js';
import { DERIVED_VERSION } from '../../../application/ports/derived-data.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import { fieldValue } from '../../../application/records/query-semantics.js';
import { StoredRecord } from '../../../application/records/record-json.js';
import { recordWords } from '../../../application/search/tokenizer.js';
import { foldedOperators, foldedText, SYSTEM_FIELDS } from '../../../domain/fields.js';
import type { Id, Versioned } from '../../../domain/record.js';

/** What a document of a table with words or folded fields has. One that an earlier release wrote may lack it. */
interface DerivedMembers {
  /** `DERIVED_VERSION` of the process that wrote them. */
  readonly derived?: number;
  /** Folded copies of fields. Unique indexes and filters use them. */
  readonly folded?: Document;
  /** Only searches use these. */
  readonly words?: readonly string[];
  /** The number of the block that the id lies in. */
  readonly block?: number;
}

export interface LiveDocument extends DerivedMembers {
  readonly _id: Id;
  /** Only records have it, tombstones do not: an index on it holds exactly what a list may show. */
  readonly live: true;
  /** An int64 if the log of changes has it, else an int32; see `ChangeLog`. */
  readonly version: number | Long;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly fields: Document;
}

/** The tombstones of earlier releases have no `version` and no `updatedAt`. */
export interface TombstoneDocument {
  readonly _id: Id;
  /** One more than the last version of the record, as an int32 or int64 as in {@link LiveDocument}. */
  readonly version?: number | Long;
  /** When the record was deleted. */
  readonly updatedAt?: Date;
  /** From when on the server counts the age of the tombstone. Absent while its deletion must get into the log. */
  readonly deletedAt?: Date;
}

export type StoredDocument = LiveDocument | TombstoneDocument;

export function documentOf(table: RecordTable, record: Versioned<unknown>): LiveDocument {
  const { id, version, createdAt, updatedAt, fields } = record;
  return {
    _id: id,
    live: true,
    version,
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
    fields: storedFields(fields as StoredFields),
    ...derivedMembers(table, record),
  };
}

/** Whether documents of a table have derived members. */
export function hasDerivedMembers({ fields, searched }: RecordTable): boolean {
  return searched.length > 0 || Object.values(fields).some(foldedOperators);
}

/** Returns the derived members of a record's document; none if its table has none. */
export function derivedMembers(table: RecordTable, record: Versioned<unknown>): DerivedMembers {
  if (!hasDerivedMembers(table)) return {};
  const folded = Object.entries(table.fields).flatMap(([field, spec]) => {
    const value = foldedOperators(spec) && fieldValue(record, field);
    return value === undefined ? [] : [[field, foldedText(spec, String(value))]];
  });
  return {
    derived: DERIVED_VERSION,
    ...(folded.length > 0 && { folded: Object.fromEntries(folded) }),
    ...(table.searched.length > 0 && {
      words: recordWords(table, record.fields as object),
      block: blockOf(record.id),
    }),
  };
}

/**
 * The consecutive ids of a block. A search reads the index of words block by block. Within a block it reads every key
 * of the word, and it seeks once in each block.
 */
export const BLOCK_IDS = 2_048;

export function blockOf(id: Id): number {
  return Math.floor(id / BLOCK_IDS);
}

export const WORDS_INDEX = {
  key: { live: 1, block: 1, words: 1, _id: 1 },
  name: 'live_block_words',
} as const;

/** A projection without the words, which can be more than the record itself. */
export const WITHOUT_WORDS = { words: 0 } as const;

/** The condition on records whose derived members an earlier release has made, or none. */
export const IS_STALE: Document = { live: true, derived: { $not: { $gte: DERIVED_VERSION } } };
export const DERIVED_INDEX = { key: { live: 1, derived: 1 }, name: 'live_derived' } as const;

export function recordOf<Fields>(document: LiveDocument): StoredRecord<Fields> {
  const { _id: id, version, createdAt, updatedAt, fields } = document;
  return StoredRecord.of({
    id,
    version: Number(version),
    createdAt: createdAt.getTime(),
    updatedAt: updatedAt.getTime(),
    fields: fieldsIn(fields) as Fields,
  });
}

/** Returns the document of an entry of a copy. No log of changes has it, nor needs it. */
export function archivedDocumentOf(table: RecordTable, entry: RecordEntry): StoredDocument {
  if (!('deletedAt' in entry)) {
    return { ...documentOf(table, entry), version: Long.fromNumber(entry.version) };
  }
  const deletedAt = new Date(entry.deletedAt);
  return { _id: entry.id, updatedAt: deletedAt, deletedAt };
}

export function tombstoneOf({ _id, updatedAt, deletedAt }: TombstoneDocument): Tombstone {
  return { id: _id, deletedAt: Number(updatedAt ?? deletedAt) };
}

interface StoredFields {
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/**
 * The fields of a record in its document. Attributes are a list of keys and values there: their keys are data and may
 * contain `.` and `$`, which have a meaning in the member names of a document. No other name comes from a client.
 */
function storedFields(fields: StoredFields): Document {
  const { attributes } = fields;
  if (!attributes) return { ...fields };
  return { ...fields, attributes: Object.entries(attributes).map(([key, value]) => ({ key, value })) };
}

function fieldsIn(stored: Document): Document {
  const attributes = stored['attributes'] as { key: string; value: unknown }[] | undefined;
  if (!attributes) return stored;
  return { ...stored, attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, value])) };
}

export function fieldPath(field: string): string {
  if (field === 'id') return '_id';
  return Object.hasOwn(SYSTEM_FIELDS, field) ? field : `fields.${field}`;
}

export function foldedPath(field: string): string {
  return `folded.${field}`;
}

/** The path at which no two documents of a collection share a value. */
export function uniquePath({ fields }: RecordTable, field: string): string {
  return fields[field]?.ignoresCase ? foldedPath(field) : fieldPath(field);
}

export const COUNTERS = 'counters';

/** A document of {@link COUNTERS}, so that a copy of the database by the tools of MongoDB has it. */
export interface GenerationDocument {
  readonly _id: 'generation';
  readonly generation: string;
}

/** The collection of the usage of API keys. */
export const USAGE = 'api_key_usage';

export function changesCollection({ name }: Pick<RecordTable, 'name'>): string {
  return `${name}_changes`;
}

/** The condition on documents whose change is not in the log yet. The driver stores every version as an int32. */
export const PENDING = { version: { $type: 'int' } } as const;
/** The index on these documents, the oldest change first. */
export const PENDING_INDEX = {
  key: { updatedAt: 1 },
  name: 'pending',
  partialFilterExpression: PENDING,
} as const;

/** The first document of a log. It is there while the feed is on. */
export interface ChangeLogHead {
  /** 0 */
  readonly _id: number;
  readonly epoch: string;
  /** The low watermark: the number of the last entry that was, or may have been, deleted. */
  readonly floor: number;
}

/** Says that a record changed, not how. */
export interface ChangeLogEntry {
  /** From 1 on, without a gap. */
  readonly _id: number;
  readonly id: Id;
  readonly at: Date;
}

export function reservationCollection({ name }: Pick<RecordTable, 'name'>): string {
  return `${name}_reservations`;
}
