import type Joi from 'joi';
import { fieldReader, presenter, type RecordView } from '../../../../application/records/record-view.js';
import type { Scope } from '../../../../domain/access.js';
import { type FieldSpecs, type FieldTable, indexedFields } from '../../../../domain/fields.js';
import type { Versioned } from '../../../../domain/record.js';
import { objectSchema, validateBody } from '../body/validate-body.js';
import type { ResourceDocs } from '../openapi/description.js';
import type { JsonSchema } from '../openapi/json-schema.js';
import type { Deprecation } from '../versioning/deprecation.js';

/** What the shared handlers need to know of a resource in one version of the API, as values and functions. */
export interface ResourceDefinition<Fields> extends RecordView<Fields> {
  /** The plural noun in the address. */
  readonly path: string;
  /** The version of the API. Several versions can serve the same records. */
  readonly version: number;
  readonly deprecation?: Deprecation;
  readonly readScope: Scope;
  readonly writeScope: Scope;
  /** What lists can be filtered and sorted by, beside the metadata that every record has. */
  readonly fields: FieldSpecs;
  /** What a client may send. The service's own fields are not in it. */
  readonly schema: Joi.ObjectSchema;
  /** Fields that are shown beside the id and cannot be sent. */
  readonly readOnlyFields?: Readonly<Record<string, JsonSchema>>;
  /** Those of {@link readOnlyFields} that every record has. */
  readonly alwaysPresent?: readonly string[];
  readonly docs: ResourceDocs;
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
): RecordView<Fields> & Pick<ResourceDefinition<Fields>, 'fields' | 'schema'> {
  const schema = objectSchema(table);
  return {
    fields: indexedFields(table),
    schema,
    validate: (sent) => validateBody(schema, sent),
    present: presenter(table),
    toFields: fieldReader(table),
  };
}
