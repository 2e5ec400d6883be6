import type { components, paths } from './document.js';

type Schemas = components['schemas'];

/** What a collection holds, takes and can be asked, in the words of the service's document. */
export interface Described {
  readonly record: { readonly id: number };
  /** With all that `fields` can ask for. */
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
  /** With the key, unless the service had answered before. */
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

/** A record with its metadata, which `fields` alone shows. */
type Whole<D extends Described> = D['record'] & Required<Omit<D['view'], keyof D['record']>>;

export type Field<D extends Described> = keyof Whole<D> & string;

/** What is shown: the record, or where there are `fields` those. */
export type Shown<D extends Described, F extends Field<D>> = [F] extends [never]
  ? D['record']
  : Pick<Whole<D>, F>;

export type ListQuery<D extends Described, F extends Field<D>> = Omit<D['query'], 'fields'> & {
  readonly fields?: readonly F[];
};

type CollectionPath = Exclude<Extract<keyof paths, `/v1/${string}`>, `${string}/{id}`>;
type QueryAt<P extends CollectionPath> = Constant<NonNullable<paths[P]['get']['parameters']['query']>>;

/** As the document has it, but constant arrays will do. */
type Constant<Q> = {
  readonly [Name in keyof Q]: Q[Name] extends (infer E)[] | undefined ? readonly E[] : Q[Name];
};

interface ByAttribute {
  readonly [name: `attributes.${string}`]: string | number | boolean;
}
