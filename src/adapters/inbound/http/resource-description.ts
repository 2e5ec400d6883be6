import type Joi from 'joi';
import { fieldReader, presenter, type RecordView } from '../../../application/records/record-view.js';
import type { Scope } from '../../../domain/access.js';
import { type FieldSet, type FieldTable, indexedFields } from '../../../domain/fields.js';
import type { Versioned } from '../../../domain/record.js';
import { objectSchema, schemaFaults } from './bodies/schema.js';
import type { ResourceWords } from './openapi/description.js';
import type { JsonSchema } from './openapi/json-schema.js';
import type { Deprecation } from './versioning/deprecation.js';

/** What the shared handlers need to know of a resource in one version of the API, as values and functions. */
export interface ResourceDescription<Fields> extends RecordView<Fields> {
  /** The plural noun in the address. */
  readonly path: string;
  /** The version of the API. Several versions can serve the same records. */
  readonly version: number;
  readonly deprecation?: Deprecation;
  readonly readScope: Scope;
  readonly writeScope: Scope;
  /** What lists can be filtered and sorted by, beside the metadata that every record has. */
  readonly fields: FieldSet;
  /** What a client may send. The service's own fields are not in it. */
  readonly schema: Joi.ObjectSchema;
  /** Fields that are shown beside the id and cannot be sent. */
  readonly given?: Readonly<Record<string, JsonSchema>>;
  /** Those of {@link given} that every record has. */
  readonly alwaysGiven?: readonly string[];
  readonly words: ResourceWords;
  /** What the entity tag says of a record. Absent: its version. */
  readonly tagState?: TagState<Fields>;
}

export interface TagState<Fields> {
  of(record: Versioned<Fields>): number | string;
  /** A regular expression for what {@link of} returns. Its first group is the version of the record. */
  readonly pattern: string;
}

/** The part of a description that follows from the fields that a version sends and shows. */
export function describedBy<Fields>(
  table: FieldTable,
): RecordView<Fields> & Pick<ResourceDescription<Fields>, 'fields' | 'schema'> {
  const schema = objectSchema(table);
  return {
    fields: indexedFields(table),
    schema,
    validate: (sent) => schemaFaults(schema, sent),
    present: presenter(table),
    toFields: fieldReader(table),
  };
}
