import createClient, { type Client } from 'openapi-fetch';
import { Collection } from './collection.js';
import type { paths } from './document.js';
import { EditableCollection } from './editable-collection.js';
import { queryString } from './query-string.js';
import type { ApiKeyTypes, EditableTypes, OrderTypes, ProductTypes, UserTypes } from './resource-types.js';
import { REDIRECT, Transport, type TransportOptions } from './transport.js';

export type CatalogueOptions = TransportOptions;

/**
 * The collections, and every operation of the document through openapi-fetch's methods
 * (`GET('/v1/products/{id}', …)`), which return `{ data, error, response }`. All wait and retry by the same rules.
 */
export interface Catalogue extends Client<paths, 'application/json'> {
  readonly products: EditableCollection<ProductTypes>;
  readonly users: EditableCollection<UserTypes>;
  readonly orders: EditableCollection<OrderTypes>;
  readonly apiKeys: Collection<ApiKeyTypes>;
  /**
   * A collection by its path, such as `/v1/products`, for programs that find the collections in the document of the
   * service. Not every collection has every operation.
   */
  collection<D extends EditableTypes>(path: string): EditableCollection<D>;
}

export function createCatalogue(options: CatalogueOptions): Catalogue {
  const transport = new Transport(options);
  const { base, send, addressOf } = transport;
  return {
    ...createClient<paths, 'application/json'>({
      baseUrl: base.href,
      fetch: send,
      redirect: REDIRECT,
      querySerializer: queryString,
    }),
    products: new EditableCollection<ProductTypes>(transport, addressOf('/v1/products')),
    users: new EditableCollection<UserTypes>(transport, addressOf('/v1/users')),
    orders: new EditableCollection<OrderTypes>(transport, addressOf('/v1/orders')),
    apiKeys: new Collection<ApiKeyTypes>(transport, addressOf('/v1/api-keys')),
    collection: (path) => new EditableCollection(transport, addressOf(path)),
  };
}
