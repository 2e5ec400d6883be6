export { type Catalogue, type CatalogueOptions, createCatalogue } from './catalogue.js';
export {
  Changes,
  type ChangesOptions,
  type ChangesPage,
  type Deletion,
  type RecordChange,
  ResyncNeeded,
} from './changes.js';
export { type ClientCredentials, clientCredentials } from './client-credentials.js';
export type {
  CallOptions,
  Collection,
  CreateOptions,
  FacetsPage,
  Page,
  PageOptions,
  PartialSnapshot,
  Read,
  ReadOptions,
  Snapshot,
  Target,
} from './collection.js';
export type { components, operations, paths } from './document.js';
export type {
  Change,
  EditableCollection,
  EditOptions,
  ImportOptions,
  MatchOptions,
  Put,
  PutOptions,
} from './editable-collection.js';
export { CatalogueError, UnknownOutcomeError } from './errors.js';
export type { StreamType } from './is-retryable.js';
export type {
  ApiKey,
  ApiKeyTypes,
  EditableTypes,
  ErrorCode,
  ErrorDetail,
  Facet,
  FacetValue,
  Field,
  ImportResult,
  JsonPatch,
  Key,
  Keyed,
  ListQuery,
  MatchedLine,
  MatchField,
  Order,
  OrderTypes,
  Product,
  ProductTypes,
  ResourceTypes,
  Selected,
  User,
  UserTypes,
  Webhook,
  WebhookDelivery,
  WebhookTypes,
} from './resource-types.js';
export type { Fetch, RetryOptions } from './retry.js';
export type { Token } from './transport.js';
