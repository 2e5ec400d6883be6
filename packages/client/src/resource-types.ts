import type { components, operations } from './document.js';

type Schemas = components['schemas'];

/** The types of a collection's records, bodies and queries, from the OpenAPI document of the service. */
export interface ResourceTypes {
  readonly record: { readonly id: number };
  /** The fields that a record has only if `fields` selects them. */
  readonly metadata: object;
  readonly created: { readonly id: number };
  readonly input: object;
  readonly query: object;
}

export interface EditableTypes extends ResourceTypes {
  readonly replacement: object;
  readonly patch: object;
}

interface SchemasOf<Name extends 'Product' | 'User' | 'Order'> {
  readonly record: Omit<Schemas[Name], Metadata>;
  readonly metadata: Required<Pick<Schemas[Name], Metadata>>;
  readonly created: Omit<Schemas[Name], Metadata>;
  readonly input: Sent<Schemas[`${Name}Input`]>;
  readonly replacement: Sent<Schemas[`${Name}Replacement`]>;
  readonly patch: Schemas[`${Name}Patch`];
}

/** A body. The service takes null for no value; the document does not say so in its types, but in words. */
type Sent<Value> = Value extends readonly (infer Element)[]
  ? readonly Sent<Element>[]
  : Value extends object
    ? {
        [Name in keyof Value]:
          | Sent<Value[Name]>
          | (Record<never, never> extends Pick<Value, Name> ? null : never);
      }
    : Value;

type Metadata = 'version' | 'createdAt' | 'updatedAt';

export interface ProductTypes extends SchemasOf<'Product'> {
  readonly query: Omit<Query<'listProducts'>, 'attributes'> & AttributeFilters;
}

export interface UserTypes extends SchemasOf<'User'> {
  readonly query: Query<'listUsers'>;
}

export interface OrderTypes extends SchemasOf<'Order'> {
  readonly query: Query<'listOrders'>;
}

export interface ApiKeyTypes extends ResourceTypes {
  readonly record: Omit<Schemas['ApiKey'], 'version' | 'updatedAt'>;
  readonly metadata: Required<Pick<Schemas['ApiKey'], 'version' | 'updatedAt'>>;
  /** Includes the key, unless the response is a replay. */
  readonly created: Omit<Schemas['IssuedApiKey'], 'version' | 'updatedAt'>;
  readonly input: Sent<Schemas['ApiKeyInput']>;
  readonly query: Query<'listApiKeys'>;
}

export type Product = ProductTypes['record'];
export type User = UserTypes['record'];
export type Order = OrderTypes['record'];
export type ApiKey = ApiKeyTypes['record'];
export type JsonPatch = Schemas['JsonPatch'];
export type ImportResult = Schemas['ImportResult'];
export type ErrorDetail = Schemas['ErrorDetail'];
/** The known codes; the service may get more. */
export type ErrorCode = Schemas['Error']['code'] | (string & {});

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

/** The query of the document, but readonly arrays are accepted too. */
type Query<Name extends 'listProducts' | 'listUsers' | 'listOrders' | 'listApiKeys'> = ReadonlyArrays<
  NonNullable<operations[Name]['parameters']['query']>
>;

type ReadonlyArrays<Q> = {
  readonly [Name in keyof Q]: Q[Name] extends (infer E)[] | undefined ? readonly E[] : Q[Name];
};

interface AttributeFilters {
  readonly [name: `attributes.${string}`]: string | number | boolean;
}
