import createClient, { type Client } from 'openapi-fetch';
import { Collection } from './collection.js';
import type { paths } from './document.js';
import { EditableCollection } from './editable-collection.js';
import { queryString } from './query-string.js';
import {
  type ApiKeyTypes,
  EDITABLE_PATHS,
  type EditableName,
  type EditableTypes,
  type TypesOf,
  type WebhookTypes,
} from './resource-types.js';
import { REDIRECT, Transport, type TransportOptions } from './transport.js';

export type CatalogueOptions = TransportOptions;

/**
 * The collections, and every operation of the document through openapi-fetch's methods
 * (`GET('/v1/products/{id}', …)`), which return `{ data, error, response }`. All wait and retry by the same rules.
 */
export interface Catalogue extends Client<paths, 'application/json'>, EditableCollections {
  readonly apiKeys: Collection<ApiKeyTypes>;
  /** Their changes, secrets and deliveries are operations of the document: `PATCH('/v1/webhooks/{id}', …)`. */
  readonly webhooks: Collection<WebhookTypes>;
  /**
   * A collection by its path, such as `/v1/products`, for programs that find the collections in the document of the
   * service. Not every collection has every operation.
   */
  collection<D extends EditableTypes>(path: string): EditableCollection<D>;
}

type EditableCollections = {
  readonly [Name in EditableName]: EditableCollection<TypesOf<Name>>;
};

export function createCatalogue(options: CatalogueOptions): Catalogue {
  const transport = new Transport(options);
  const { base, send, addressOf } = transport;
  const editable = Object.entries(EDITABLE_PATHS).map(([name, path]) => [
    name,
    new EditableCollection(transport, addressOf(path)),
  ]);
  return {
    ...createClient<paths, 'application/json'>({
      baseUrl: base.href,
      fetch: send,
      redirect: REDIRECT,
      querySerializer: queryString,
    }),
    ...(Object.fromEntries(editable) as EditableCollections),
    apiKeys: new Collection<ApiKeyTypes>(transport, addressOf('/v1/api-keys')),
    webhooks: new Collection<WebhookTypes>(transport, addressOf('/v1/webhooks')),
    collection: (path) => new EditableCollection(transport, addressOf(path)),
  };
}
