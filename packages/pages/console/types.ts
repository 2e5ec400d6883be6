import type { ComponentChildren } from 'preact';
import type { Catalogue, Deletion, EditableCollection, EditableTypes } from '#packages/client/index.js';
import type { FilterField } from '../docs/filters.js';
import type { Schema } from '../docs/openapi.js';
import type { Field as FormField } from './edit/form-model.js';

/** A record as the service sends it. */
export interface CatalogueRecord {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** Records of any resource: the console knows their fields from the document alone. */
export interface AnyTypes extends EditableTypes {
  readonly record: CatalogueRecord;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created: CatalogueRecord;
  readonly input: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly facets: Readonly<Record<string, unknown>>;
  readonly replacement: Readonly<Record<string, unknown>>;
  readonly patch: Readonly<Record<string, unknown>>;
}

/** A field of a resource. */
export interface Field {
  readonly name: string;
  /** Its schema in responses, with its reference resolved. */
  readonly schema: Schema;
  readonly isRequired: boolean;
  /** Whether only `fields` shows it: `version`, `createdAt` and `updatedAt` of most resources. */
  readonly isMetadata: boolean;
  /** The name by which lists are sorted by the field: its own, or of a price that of the amount. */
  readonly sort: string | undefined;
  readonly meaning: Meaning | undefined;
}

/**
 * What a field means beyond its schema: addresses of pictures with their texts, an address of a page, what records share
 * that are variants of one another, or texts in which `/` makes paths.
 */
export type Meaning = 'pictures' | 'link' | 'variants' | 'paths';

/** The field that variants share, and the one that says how many a record stands for. */
export interface Distinct {
  readonly by: string;
  readonly variants: Field;
}

/** A resource, from the OpenAPI document. */
export interface Resource {
  /** The last segment of its path, such as `api-keys`. */
  readonly name: string;
  /** Such as `/v1/api-keys`. */
  readonly path: string;
  /** Its tag, such as `API keys`. */
  readonly title: string;
  /** One record, in lower case, such as `product`; `API key` keeps its capitals. */
  readonly singular: string;
  readonly fields: readonly Field[];
  readonly filters: readonly FilterField[];
  /** The fields by whose values the service counts records. A map such as `attributes` stands for each of its keys. */
  readonly facets: readonly string[];
  /** How lists show one record for all variants. Absent: they do not. */
  readonly distinct: Distinct | undefined;
  /** Whether lists have the parameter `q`. */
  readonly isSearchable: boolean;
  /** Whether the operations exist, whatever the credential allows. */
  readonly canCreate: boolean;
  readonly canPatch: boolean;
  readonly canDelete: boolean;
  readonly canImport: boolean;
  /** Whether its changes can be followed. */
  readonly hasChanges: boolean;
  /** The media types that imports and exports have besides JSON. */
  readonly importTypes: readonly string[];
  readonly exportTypes: readonly string[];
  /** The keys by which an import can update records: `sku` or `email`, and last `id`. */
  readonly importMatches: readonly string[];
  /** The body of POST, with its references resolved one level: use `references` of the console below. */
  readonly input: Schema | undefined;
  /** The fields of a form for it, without those that buttons change. */
  readonly form: readonly FormField[];
}

/** What the credential allows, found by requests that change nothing. */
export interface Permissions {
  readonly mayRead: ReadonlySet<string>;
  readonly mayWrite: ReadonlySet<string>;
  /** The scopes that the credential has. */
  readonly scopes: readonly string[];
}

/** The rate limit that the last response told. */
export interface RateLimit {
  readonly limit: number | undefined;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** What the last response told. */
export interface Observation {
  readonly status: number;
  readonly milliseconds: number;
  readonly rateLimit: RateLimit | undefined;
}

/** An error in words. */
export interface ErrorText {
  readonly title: string;
  readonly text: string;
}

/** The service, as the signed-in person may use it. */
export interface Api {
  readonly catalogue: Catalogue;
  /** The key or token of the person. */
  readonly credential: string;
  readonly permissions: Permissions;
  collection(resource: Resource): EditableCollection<AnyTypes>;
  mayRead(resource: Resource): boolean;
  mayWrite(resource: Resource): boolean;
}

export interface Notification {
  readonly kind?: 'info' | 'success' | 'error';
  readonly text: ComponentChildren;
  /** A button in the message, such as "Undo". */
  readonly action?: { readonly label: string; run(): void };
}

/** A record that changed, or was deleted. */
export type Change = Deletion | { readonly id: number; readonly version: number; readonly deleted?: never };

/** What happened to the records of a resource; undefined if it is not known one by one. */
export type News = readonly Change[] | undefined;

/** The properties of the pages. */
export interface RecordPageProps {
  readonly resource: Resource;
  readonly id: number;
}
export interface ResourcePageProps {
  readonly resource: Resource;
}
