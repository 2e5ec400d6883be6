import type Joi from 'joi';
import {
  fieldReader,
  nullRemover,
  presenter,
  type RecordView,
} from '../../../../application/records/record-view.js';
import type { Scope } from '../../../../domain/access.js';
import {
  type FieldSpecs,
  type FieldTable,
  indexedFields,
  type MoneyField,
  moneyFields,
  searchedFields,
} from '../../../../domain/fields.js';
import type { Versioned } from '../../../../domain/record.js';
import { bodyValidator, objectSchema } from '../body/validate-body.js';
import type { ResourceDocs } from '../openapi/description.js';
import type { JsonSchema } from '../openapi/json-schema.js';
import type { Deprecation } from '../versioning/deprecation.js';

/** A resource in one version of the API, as values and functions. The shared handlers read it. */
export interface ResourceDefinition<Fields> extends RecordView<Fields> {
  /** The plural noun in the path. */
  readonly path: string;
  /** The version of the API. Several versions can serve the same records. */
  readonly version: number;
  readonly deprecation?: Deprecation;
  readonly readScope: Scope;
  readonly writeScope: Scope;
  /** The fields by which lists can be filtered and sorted, in addition to the system fields. */
  readonly fields: FieldSpecs;
  /** The amounts of money, which CSV shows in the major unit too. Default: none. */
  readonly money?: readonly MoneyField[];
  /** Whether lists can be searched by words. */
  readonly isSearchable: boolean;
  /** The schema of the fields that a client may send. */
  readonly schema: Joi.ObjectSchema;
  /** Fields that responses show and clients cannot send, in addition to the id. */
  readonly readOnlyFields?: Readonly<Record<string, JsonSchema>>;
  /** Those of {@link readOnlyFields} that every record has. */
  readonly alwaysPresent?: readonly string[];
  /** Those of {@link readOnlyFields} that a single record shows, and lists do not. */
  readonly itemFields?: readonly string[];
  readonly docs: ResourceDocs;
  /** The state that the entity tag identifies. Default: the version of the record. */
  readonly tagState?: TagState<Fields>;
}

/** What the query of a list depends on. */
export type ListedResource = Pick<ResourceDefinition<never>, 'fields' | 'isSearchable'>;

export interface TagState<Fields> {
  of(record: Versioned<Fields>): number | string;
  /** A regular expression that matches the result of {@link of}. Its first group is the version of the record. */
  readonly pattern: string;
}

/** The part of a definition that follows from the field table. */
export function fromFieldTable<Fields>(
  table: FieldTable,
): RecordView<Fields> & Pick<ResourceDefinition<Fields>, 'fields' | 'isSearchable' | 'money' | 'schema'> {
  const schema = objectSchema(table);
  return {
    fields: indexedFields(table),
    isSearchable: searchedFields(table).length > 0,
    money: moneyFields(table),
    schema,
    withoutNulls: nullRemover(table),
    validate: bodyValidator(schema, table),
    present: presenter(table),
    toFields: fieldReader(table),
  };
}
