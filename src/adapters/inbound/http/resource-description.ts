import type Joi from 'joi';
import type { Scope } from '../../../domain/access.js';
import type { FieldSet } from '../../../domain/fields.js';
import type { Versioned } from '../../../domain/record.js';
import type { ResourceWords } from './openapi/description.js';
import type { JsonSchema } from './openapi/json-schema.js';
import type { Deprecation } from './versioning/deprecation.js';

/** What the shared handlers need to know of a resource: values and functions, never which one it is. */
export interface ResourceDescription<Fields> {
  /** The plural noun in the address. */
  readonly path: string;
  /** Of the interface: the same records may be shown in several ways beside each other. */
  readonly version: number;
  /** Where this version is to go. */
  readonly deprecation?: Deprecation;
  readonly readScope: Scope;
  readonly writeScope: Scope;
  /** What lists can be filtered and sorted by, beside the metadata that every record has. */
  readonly fields: FieldSet;
  /** What a client may send of it; the service's own fields are not in it. */
  readonly schema: Joi.ObjectSchema;
  /** What is shown of it beside its id and what can be sent. */
  readonly given?: Readonly<Record<string, JsonSchema>>;
  /** Of that, what every record has. */
  readonly alwaysGiven?: readonly string[];
  readonly words: ResourceWords;
  /** What a client is shown, field by field, so that a new field never leaks. Fields without a value are undefined. */
  present(record: Versioned<Fields>): object;
}
