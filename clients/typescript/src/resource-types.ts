import type { components, paths } from './document.js';

type Schemas = components['schemas'];

/** The types of a collection's records, bodies and queries, from the OpenAPI document of the service. */
export interface Described {
  readonly record: { readonly id: number };
  /** The record with all fields that `fields` can select. */
  readonly view: object;
  readonly created: { readonly id: number };
  readonly fresh: object;
  readonly query: object;
}

export interface Editable extends Described {
  readonly replacement: object;
  readonly patch: object;
}

export interface ProductTypes extends Editable {
  readonly record: Schemas['Product'];
  readonly view: Schemas['ProductView'];
  readonly created: Schemas['Product'];
  readonly fresh: Schemas['NewProduct'];
  readonly replacement: Schemas['ProductReplacement'];
  readonly patch: Schemas['ProductPatch'];
  readonly query: Omit<QueryAt<'/v1/products'>, 'attributes'> & ByAttribute;
}

export interface UserTypes extends Editable {
  readonly record: Schemas['User'];
  readonly view: Schemas['UserView'];
  readonly created: Schemas['User'];
  readonly fresh: Schemas['NewUser'];
  readonly replacement: Schemas['UserReplacement'];
  readonly patch: Schemas['UserPatch'];
  readonly query: QueryAt<'/v1/users'>;
}

export interface OrderTypes extends Editable {
  readonly record: Schemas['Order'];
  readonly view: Schemas['OrderView'];
  readonly created: Schemas['Order'];
  readonly fresh: Schemas['NewOrder'];
  readonly replacement: Schemas['OrderReplacement'];
  readonly patch: Schemas['OrderPatch'];
  readonly query: QueryAt<'/v1/orders'>;
}

export interface ApiKeyTypes extends Described {
  readonly record: Schemas['ApiKey'];
  readonly view: Schemas['ApiKeyView'];
  /** Includes the key, unless the response is a replay. */
  readonly created: Schemas['IssuedApiKey'];
  readonly fresh: Schemas['NewApiKey'];
  readonly query: QueryAt<'/v1/api-keys'>;
}

export type Product = Schemas['Product'];
export type User = Schemas['User'];
export type Order = Schemas['Order'];
export type ApiKey = Schemas['ApiKey'];
export type JsonPatch = Schemas['JsonPatch'];
export type ImportResult = Schemas['ImportResult'];
export type Issue = Schemas['Fault'];
export type ErrorCode = Schemas['Error']['code'];

/** A record with its metadata, which only `fields` selects. */
type Whole<D extends Described> = D['record'] & Required<Omit<D['view'], keyof D['record']>>;

export type Field<D extends Described> = keyof Whole<D> & string;

/** The returned part of a record: the whole record, or the selected `fields`. */
export type Shown<D extends Described, F extends Field<D>> = [F] extends [never]
  ? D['record']
  : Pick<Whole<D>, F>;

export type ListQuery<D extends Described, F extends Field<D>> = Omit<D['query'], 'fields'> & {
  readonly fields?: readonly F[];
};

type CollectionPath = Exclude<Extract<keyof paths, `/v1/${string}`>, `${string}/{id}`>;
type QueryAt<P extends CollectionPath> = Constant<NonNullable<paths[P]['get']['parameters']['query']>>;

/** The type in the document, but readonly arrays are accepted too. */
type Constant<Q> = {
  readonly [Name in keyof Q]: Q[Name] extends (infer E)[] | undefined ? readonly E[] : Q[Name];
};

interface ByAttribute {
  readonly [name: `attributes.${string}`]: string | number | boolean;
}
