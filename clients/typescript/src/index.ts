export { type Catalogue, type CatalogueOptions, createCatalogue } from './catalogue.js';
export { type ClientCredentials, clientCredentials } from './client-credentials.js';
export type {
  CallOptions,
  Collection,
  CreateOptions,
  Page,
  Read,
  ReadOptions,
  Stored,
  Target,
  Viewed,
} from './collection.js';
export type { components, operations, paths } from './document.js';
export type { Change, EditableCollection, EditOptions } from './editable-collection.js';
export { CatalogueError, UnknownOutcomeError } from './errors.js';
export type {
  ApiKey,
  ApiKeyTypes,
  ErrorCode,
  Field,
  ImportResult,
  Issue,
  JsonPatch,
  ListQuery,
  Order,
  OrderTypes,
  Product,
  ProductTypes,
  Shown,
  User,
  UserTypes,
} from './resource-types.js';
export type { Fetch, RetryOptions } from './retry.js';
export type { Token } from './transport.js';
