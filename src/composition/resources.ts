import { randomBytes } from 'node:crypto';
import type { PublicView, ReadPolicy, ResourceDefinition } from '../adapters/inbound/http/core/resource-definition.js';
import type { Route } from '../adapters/inbound/http/core/route.js';
import type { ResultBuffers } from '../adapters/inbound/http/import/result-buffer.js';
import { API_KEYS, apiKeyRoutes } from '../adapters/inbound/http/resources/api-keys.js';
import { ORDERS, PRODUCTS, USERS } from '../adapters/inbound/http/resources/definitions.js';
import type { ResourcePolicy } from '../adapters/inbound/http/resources/resource-operations.js';
import { resourceRoutes } from '../adapters/inbound/http/resources/resource-routes.js';
import { EDITED_WEBHOOKS, WEBHOOKS, webhookRoutes } from '../adapters/inbound/http/resources/webhooks.js';
import { ApiKeyService } from '../application/auth/api-keys.js';
import type { CredentialCache } from '../application/auth/credential-cache.js';
import { ChangeReader } from '../application/changes/change-reader.js';
import { ChangeWatch } from '../application/changes/change-watch.js';
import type { Generation } from '../application/changes/feed-state.js';
import type { ChangeFeed } from '../application/ports/change-feed.js';
import type { Backoff, Clock, Timer } from '../application/ports/clock.js';
import type { IdempotencyStore } from '../application/ports/idempotency-store.js';
import type { Logger } from '../application/ports/logger.js';
import type { Repository } from '../application/ports/repository.js';
import type { WebhookTransport } from '../application/ports/webhooks.js';
import { IdAllocator } from '../application/records/id-allocator.js';
import type { QueryBudget } from '../application/records/lists.js';
import { type ReferenceValidator, referenceValidator } from '../application/records/record-format.js';
import { RecordService } from '../application/records/record-service.js';
import type { Deliveries } from '../application/webhooks/deliveries.js';
import { limitedWebhooks } from '../application/webhooks/webhook-limits.js';
import type { WebhookSender } from '../application/webhooks/webhook-sender.js';
import { targetRule, WebhookService, withStatus } from '../application/webhooks/webhook-service.js';
import type { Settings } from '../config/settings.js';
import type { ApiKey } from '../domain/api-key.js';
import type { FieldSpecs } from '../domain/fields.js';
import { LIVE, type Product } from '../domain/product.js';
import type { Webhook } from '../domain/webhook.js';
import type { Storage } from './storage.js';
import { type IdempotencyStores, RECORD_TABLES } from './tables.js';

export interface ResourceDependencies {
  readonly settings: Settings;
  readonly storage: Storage;
  /** One for all resources, so that a process reads it once. */
  readonly generation: Generation;
  readonly clock: Clock;
  readonly budget: QueryBudget;
  readonly backoff: Backoff;
  readonly timer: Timer;
  readonly logger: Logger;
  readonly newApiKey: () => string;
  readonly credentialCache: CredentialCache;
  readonly resultBuffers: ResultBuffers;
  readonly deliveries: Deliveries;
  readonly webhookTransport: WebhookTransport;
  readonly webhookSender: WebhookSender;
}

/** The use cases of one resource, and its routes. */
export interface Resource<Service> {
  /** Absent: the resource does not show its changes. */
  readonly watch?: ChangeWatch | undefined;
  readonly ids: IdAllocator;
  /** Of the first version. */
  readonly service: Service;
  /** In all versions of the API. */
  readonly routes: readonly Route[];
}

/** The definition of each resource, in the order of the documentation. */
export const DEFINITIONS = {
  products: PRODUCTS,
  users: USERS,
  orders: ORDERS,
  apiKeys: API_KEYS,
  webhooks: WEBHOOKS,
} satisfies Record<keyof IdempotencyStores, unknown>;

/**
 * Returns the canonical path of each collection.
 * @param resources absent: every one, else those that the service has
 */
export function collectionPaths(resources?: Resources): Readonly<Record<string, string>> {
  const served = Object.entries(DEFINITIONS).filter(
    ([name]) => resources?.[name as keyof Resources].routes.length !== 0,
  );
  return Object.fromEntries(served.map(([name, { version, path }]) => [name, `/v${version}/${path}`]));
}

export type Resources = ReturnType<typeof composeResources>;

/** Every resource. A keyed table without a resource does not compile. */
export function composeResources(deps: ResourceDependencies) {
  const { settings, storage } = deps;
  return {
    products: recordResource(deps, storedIn(storage, 'products'), storage.changes.products, PRODUCTS, {
      reading: productReading(settings),
    }),
    users: recordResource(deps, storedIn(storage, 'users'), storage.changes.users, USERS),
    orders: recordResource(deps, storedIn(storage, 'orders'), storage.changes.orders, ORDERS),
    apiKeys: apiKeyResource(deps, storedIn(storage, 'apiKeys')),
    webhooks: webhookResource(deps, storedIn(storage, 'webhooks')),
  } satisfies Record<keyof IdempotencyStores, Resource<unknown>>;
}

interface StoredRecords<Fields> {
  readonly records: Repository<Fields>;
  readonly reservations: IdempotencyStore;
  readonly references: ReferenceValidator<Fields> | undefined;
  readonly fields: FieldSpecs;
}

/**
 * The parts of the storage that a resource uses. The references follow from its table, so all are checked.
 * @throws Error if a field of the table names an unknown resource
 */
function storedIn<Name extends keyof IdempotencyStores>(storage: Storage, name: Name) {
  const named = Object.entries(RECORD_TABLES).map(([key, table]) => [
    table.name,
    storage[key as keyof typeof RECORD_TABLES],
  ]);
  const references = referenceValidator(RECORD_TABLES[name].entity, Object.fromEntries(named));
  const { fields } = RECORD_TABLES[name];
  return { records: storage[name], reservations: storage.reservations[name], references, fields };
}

interface Differences<Fields> {
  readonly reading?: ReadPolicy<Fields>;
  /** The other versions of the API that serve the same records. */
  readonly laterVersions?: readonly ResourceDefinition<Fields>[];
}

function recordResource<Fields>(
  deps: ResourceDependencies,
  { references, ...stored }: StoredRecords<Fields>,
  feed: ChangeFeed<Fields>,
  definition: ResourceDefinition<Fields>,
  { reading = GUARDED_READING, laterVersions = [] }: Differences<Fields> = {},
): Resource<RecordService<Fields>> {
  const { clock, budget, backoff, settings, timer, resultBuffers, logger } = deps;
  const ids = new IdAllocator(stored.records);
  const rules = { references };
  const watch = settings.CHANGES === 'on' ? new ChangeWatch(feed, timer) : undefined;
  const changes = watch && new ChangeReader({ feed, watch, clock });
  const imports = { resultBuffers, logger };
  const versions = [definition, ...laterVersions].map((view) => {
    const service = new RecordService({ ...stored, ids, clock, budget, backoff, view, rules });
    return { service, routes: resourceRoutes(view, service, policyOf(deps, reading), imports, changes) };
  });
  const [{ service }] = versions as [(typeof versions)[0]];
  return { ids, service, watch, routes: versions.flatMap(({ routes }) => routes) };
}

function apiKeyResource(
  deps: ResourceDependencies,
  { references, ...stored }: StoredRecords<ApiKey>,
): Resource<ApiKeyService> {
  const { clock, budget, backoff, newApiKey: newKey, credentialCache: credentials, storage, logger } = deps;
  // One by one: keys are created rarely, and the next command or process takes the next id.
  const { records } = stored;
  const ids = new IdAllocator(records, 1);
  const rules = { references };
  const keys = new RecordService({ ...stored, ids, clock, budget, backoff, view: API_KEYS, rules });
  const service = new ApiKeyService({
    keys,
    records,
    usage: storage.usage,
    newKey,
    credentials,
    clock,
    logger,
  });
  const routes = apiKeyRoutes(API_KEYS, service, policyOf(deps, GUARDED_READING));
  return { ids, service, routes };
}

function webhookResource(
  deps: ResourceDependencies,
  { references: _none, ...stored }: StoredRecords<Webhook>,
): Resource<WebhookService> {
  const { clock, budget, backoff, settings, storage, deliveries, webhookTransport: transport } = deps;
  const ids = new IdAllocator(stored.records, 1);
  const records = limitedWebhooks(stored.records);
  const webhooksFor = (client: string) => {
    const rules = { references: targetRule(transport, client), normalize: withStatus };
    return new RecordService({ ...stored, records, ids, clock, budget, backoff, view: EDITED_WEBHOOKS, rules });
  };
  const { apiKeys: keys, changes: feeds } = storage;
  const service = new WebhookService({
    webhooksFor,
    deliveries,
    keys,
    feeds,
    newSecret,
    clock,
    onChange: () => deps.webhookSender.wake(),
  });
  const routes = webhookRoutes(WEBHOOKS, service, policyOf(deps, GUARDED_READING));
  // Without a feed there is nothing to report.
  return { ids, service, routes: settings.CHANGES === 'on' ? routes : [] };
}

/** 32 random bytes: Standard Webhooks asks for 24 to 64. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

const GUARDED_READING = { cacheControl: 'no-store' };

function productReading({ PUBLIC_READ, PUBLIC_MAX_AGE }: Settings): ReadPolicy<Product> {
  const publicView: PublicView<Product> = {
    cacheControl: `public, max-age=${PUBLIC_MAX_AGE}`,
    filter: LIVE,
    includes: ({ fields }) => fields[LIVE.field] === undefined,
  };
  return { cacheControl: 'private, no-cache', ...(PUBLIC_READ === 'products' && { publicView }) };
}

function policyOf<Fields>(
  { settings, generation }: Pick<ResourceDependencies, 'settings' | 'generation'>,
  reading: ReadPolicy<Fields>,
): ResourcePolicy<Fields> {
  return {
    generation,
    bodyLimitBytes: settings.BODY_LIMIT_BYTES,
    requireIfMatch: settings.REQUIRE_IF_MATCH,
    ...reading,
  };
}
