import type { components, paths } from './document.js';

type Schemas = components['schemas'];

/** The types of a collection's records, bodies and queries, from the OpenAPI document of the service. */
export interface ResourceTypes {
  readonly record: { readonly id: number };
  /** The fields that a record has only if `fields` selects them. */
  readonly metadata: object;
  readonly created: { readonly id: number };
  readonly input: object;
  readonly query: object;
  /** The query of the facets; never if the service counts no records of the collection by value. */
  readonly facets: object;
  /** The name of the field that no two records share, by which they have a second address. */
  readonly unique: string;
}

export interface EditableTypes extends ResourceTypes {
  readonly replacement: object;
  readonly patch: object;
}

/** The collections whose records can be changed, and the path of each. */
export const EDITABLE_PATHS = {
  products: '/v1/products',
  users: '/v1/users',
  orders: '/v1/orders',
} as const;

export type EditableName = keyof typeof EDITABLE_PATHS;

type PathOf<Name extends EditableName> = (typeof EDITABLE_PATHS)[Name];
type CollectionAt<Name extends EditableName> = paths[PathOf<Name>];
type ItemAt<Name extends EditableName> = paths[`${PathOf<Name>}/{id}`];
type Shown<Name extends EditableName> = ItemAt<Name>['get']['responses'][200]['content']['application/json'];

/** The types of a collection whose records can be changed. */
export interface TypesOf<Name extends EditableName> extends EditableTypes {
  readonly record: Omit<Shown<Name>, Metadata>;
  readonly metadata: Required<Pick<Shown<Name>, Metadata & keyof Shown<Name>>>;
  readonly created: Omit<Shown<Name>, Metadata>;
  readonly input: Sent<CollectionAt<Name>['post']['requestBody']['content']['application/json']>;
  readonly replacement: Sent<ItemAt<Name>['put']['requestBody']['content']['application/json']>;
  readonly patch: ItemAt<Name>['patch']['requestBody']['content']['application/merge-patch+json'];
  readonly query: Query<CollectionAt<Name>['get']>;
  readonly facets: FacetQueryOf<`${PathOf<Name>}/facets`>;
  readonly unique: UniqueField<Name>;
}

type FacetQueryOf<Path extends string> = Path extends keyof paths
  ? paths[Path] extends { get: infer Operation extends { parameters: { query?: object } } }
    ? Query<Operation>
    : never
  : never;

/** The field of the second address of a record: `sku` of `/v1/products/sku/{sku}`. */
type UniqueField<Name extends EditableName> = {
  [Path in keyof paths]: Path extends `${PathOf<Name>}/${infer Field}/{${infer Same}}`
    ? Field extends Same
      ? Field
      : never
    : never;
}[keyof paths];

/** A body. The service takes null for no value; the document does not say so in its types, but in words. */
type Sent<Value> = Value extends readonly (infer Element)[]
  ? readonly Sent<Element>[]
  : Value extends object
    ? {
        [Name in keyof Value]: Sent<Value[Name]> | (Record<never, never> extends Pick<Value, Name> ? null : never);
      }
    : Value;

/** Lists have `variants` only with `distinct`, and single records never. */
type Metadata = 'version' | 'createdAt' | 'updatedAt' | 'variants';

export interface ProductTypes extends TypesOf<'products'> {}
export interface UserTypes extends TypesOf<'users'> {}
export interface OrderTypes extends TypesOf<'orders'> {}

export interface ApiKeyTypes extends ResourceTypes {
  readonly record: Omit<Schemas['ApiKey'], 'version' | 'updatedAt'>;
  readonly metadata: Required<Pick<Schemas['ApiKey'], 'version' | 'updatedAt'>>;
  /** Includes the key, unless the response is a replay. */
  readonly created: Omit<Schemas['IssuedApiKey'], 'version' | 'updatedAt'>;
  readonly input: Sent<Schemas['ApiKeyInput']>;
  readonly query: Query<paths['/v1/api-keys']['get']>;
  readonly facets: never;
  readonly unique: never;
}

export interface WebhookTypes extends ResourceTypes {
  readonly record: Omit<Schemas['Webhook'], 'version' | 'updatedAt'>;
  readonly metadata: Required<Pick<Schemas['Webhook'], 'version' | 'updatedAt'>>;
  /** Includes the secret, unless the response is a replay. */
  readonly created: Omit<Schemas['IssuedWebhook'], 'version' | 'updatedAt'>;
  readonly input: Sent<Schemas['WebhookInput']>;
  readonly query: Query<paths['/v1/webhooks']['get']>;
  readonly facets: never;
  readonly unique: never;
}

export type Product = ProductTypes['record'];
export type User = UserTypes['record'];
export type Order = OrderTypes['record'];
export type ApiKey = ApiKeyTypes['record'];
export type Webhook = WebhookTypes['record'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type JsonPatch = Schemas['JsonPatch'];
export type ImportResult = Schemas['ImportResult'];
export type ErrorDetail = Schemas['ErrorDetail'];
/** The known codes; the service may get more. */
export type ErrorCode = Schemas['Error']['code'] | (string & {});

/** The values of a field. */
export interface Facet extends Omit<Schemas['Facet'], 'values'> {
  /** The value that most records have first. */
  readonly values: readonly FacetValue[];
}

export interface FacetValue extends Omit<Schemas['FacetValue'], 'value'> {
  /** An attribute can be a number or a boolean. */
  readonly value: string | number | boolean;
}

/** A record by its unique field, such as `{ sku: 'L-1' }`. */
export type Key<D extends ResourceTypes> = [D['unique']] extends [never]
  ? never
  : { readonly [Name in D['unique']]: string };

/** What a write to a {@link Key} creates or replaces. Its unique field is that of the key, and may be left out. */
export type Keyed<D extends EditableTypes> = Omit<D['replacement'], D['unique']> &
  Partial<Pick<D['replacement'], D['unique'] & keyof D['replacement']>>;

/** The fields by which an import can find records. */
export type MatchField<D extends ResourceTypes> = 'id' | D['unique'];

/** A line of an import that finds its record by the field Match. */
export type MatchedLine<D extends EditableTypes, Match extends MatchField<D>> = D['patch'] & {
  readonly [Name in Match]: Name extends 'id' ? number : string;
} & {
  /** The version that the record must have. */
  readonly version?: number;
  /** Deletes the record. */
  readonly deleted?: boolean;
};

export type Field<D extends ResourceTypes> = keyof (D['record'] & D['metadata']) & string;

/** The returned part of a record: the whole record, or the selected `fields`. */
export type Selected<D extends ResourceTypes, F extends Field<D>> = [F] extends [never]
  ? D['record']
  : Pick<D['record'] & D['metadata'], F>;

export type ListQuery<D extends ResourceTypes, F extends Field<D>> = Omit<D['query'], 'fields'> & {
  readonly fields?: readonly F[];
};

/** The query of an export as CSV, whose fields are columns. */
export type CsvQuery<D extends ResourceTypes> = Omit<D['query'], 'fields'> & {
  readonly fields?: readonly string[];
};

/** The query of the document, but readonly arrays are accepted too, and attributes are named one by one. */
type Query<Operation extends { parameters: { query?: object } }> = WithAttributes<
  ReadonlyArrays<NonNullable<Operation['parameters']['query']>>
>;

type WithAttributes<Q> = Q extends { attributes?: unknown } ? Omit<Q, 'attributes'> & AttributeFilters : Q;

type ReadonlyArrays<Q> = {
  readonly [Name in keyof Q]: Q[Name] extends (infer E)[] | undefined ? readonly E[] : Q[Name];
};

interface AttributeFilters {
  readonly [name: `attributes.${string}` | `attributes[${string}]`]: string | number | boolean;
  readonly [name: `attributes[${string}].in`]: readonly (string | number | boolean)[];
  readonly [name: `attributes[${string}].exists`]: boolean;
  readonly [name: `attributes[${string}].${'lt' | 'lte' | 'gt' | 'gte'}`]: number;
}
