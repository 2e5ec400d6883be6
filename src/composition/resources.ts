import { ApiKeyEndpoints } from '../adapters/inbound/http/api-key-endpoints.js';
import type { ImportTools } from '../adapters/inbound/http/import/import-route.js';
import { ResourceEndpoints, type ResourcePolicy } from '../adapters/inbound/http/resource-endpoints.js';
import { API_KEYS } from '../adapters/inbound/http/resources/api-keys.js';
import { ORDERS } from '../adapters/inbound/http/resources/orders.js';
import { PRODUCTS } from '../adapters/inbound/http/resources/products.js';
import { USERS } from '../adapters/inbound/http/resources/users.js';
import type { Route } from '../adapters/inbound/http/route.js';
import { ApiKeyUseCases } from '../application/api-key-use-cases.js';
import type { CredentialCache } from '../application/auth/credential-cache.js';
import { LeasedIds } from '../application/leased-ids.js';
import { OrderUseCases } from '../application/order-use-cases.js';
import type { ApiKeyFormat } from '../application/ports/api-key-format.js';
import type { Backoff } from '../application/ports/backoff.js';
import type { Clock } from '../application/ports/clock.js';
import type { IdempotencyStore } from '../application/ports/idempotency-store.js';
import type { Repository } from '../application/ports/repository.js';
import { type RecordDependencies, RecordUseCases } from '../application/record-use-cases.js';
import type { Settings } from '../config/settings.js';
import { apiKeyFaults } from '../domain/access.js';
import { type Order, orderFaults } from '../domain/order.js';
import { normalProduct, type Product, productFaults } from '../domain/product.js';
import { type User, userFaults } from '../domain/user.js';
import type { Storage } from './storage.js';

export interface ResourceDependencies {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly backoff: Backoff;
  readonly format: ApiKeyFormat;
  readonly credentials: CredentialCache;
  readonly imports: ImportTools;
}

/** One resource: what runs its use cases, and how it is served. */
export interface Resource<UseCases> {
  readonly ids: LeasedIds;
  readonly useCases: UseCases;
  /** Of all its versions. */
  readonly endpoints: readonly Route[];
}

export interface Resources {
  readonly products: Resource<RecordUseCases<Product>>;
  readonly users: Resource<RecordUseCases<User>>;
  readonly orders: Resource<RecordUseCases<Order>>;
  readonly apiKeys: Resource<ApiKeyUseCases>;
}

export function composeResources(deps: ResourceDependencies): Resources {
  const products = composeResource(deps, {
    records: (stored) => stored.products,
    reservations: (stored) => stored.reservations.products,
    useCases: (common) =>
      new RecordUseCases({ ...common, rules: { faults: productFaults, normal: normalProduct } }),
    endpoints: (useCases, { policy, imports, settings }) =>
      new ResourceEndpoints(
        PRODUCTS,
        useCases,
        { ...policy, ...productReading(settings) },
        imports,
      ).endpoints(),
  });
  const users = composeResource(deps, {
    records: (stored) => stored.users,
    reservations: (stored) => stored.reservations.users,
    useCases: (common) => new RecordUseCases({ ...common, rules: { faults: userFaults, normal: asItIs } }),
    endpoints: (useCases, { policy, imports }) =>
      new ResourceEndpoints(USERS, useCases, policy, imports).endpoints(),
  });
  const orders = composeResource(deps, {
    records: (stored) => stored.orders,
    reservations: (stored) => stored.reservations.orders,
    useCases: (common, { storage }) =>
      new OrderUseCases({
        ...common,
        users: storage.users,
        products: storage.products,
        rules: { faults: orderFaults, normal: asItIs },
      }),
    endpoints: (useCases, { policy, imports }) =>
      new ResourceEndpoints(ORDERS, useCases, policy, imports).endpoints(),
  });
  const apiKeys = composeResource(deps, {
    records: (stored) => stored.apiKeys,
    reservations: (stored) => stored.reservations.apiKeys,
    useCases: (common, { format, credentials }) => {
      const rules = { faults: apiKeyFaults, normal: asItIs };
      return new ApiKeyUseCases({ ...common, rules, format, credentials });
    },
    endpoints: (useCases, { policy, imports }) =>
      new ApiKeyEndpoints(API_KEYS, useCases, policy, imports).endpoints(),
  });
  return { products, users, orders, apiKeys };
}

/** What a resource is made of, beside what is alike for all. */
interface Parts<Fields, UseCases extends RecordUseCases<Fields>> {
  records(stored: Storage): Repository<Fields>;
  reservations(stored: Storage): IdempotencyStore;
  useCases(common: Omit<RecordDependencies<Fields>, 'rules'>, deps: ResourceDependencies): UseCases;
  /** Of all its versions. */
  endpoints(useCases: UseCases, edge: Edge): readonly Route[];
}

/** What the endpoints of every resource are made with. */
interface Edge {
  readonly policy: ResourcePolicy;
  readonly imports: ImportTools;
  readonly settings: Settings;
}

function composeResource<Fields, UseCases extends RecordUseCases<Fields>>(
  deps: ResourceDependencies,
  parts: Parts<Fields, UseCases>,
): Resource<UseCases> {
  const { settings, storage, clock, backoff, imports } = deps;
  const [records, reservations] = [parts.records(storage), parts.reservations(storage)];
  const ids = new LeasedIds(records);
  const useCases = parts.useCases({ records, reservations, ids, clock, backoff }, deps);
  const edge = { policy: guardedReading(settings), imports, settings };
  return { ids, useCases, endpoints: parts.endpoints(useCases, edge) };
}

/** Reading needs a token, and no cache keeps what was read. */
function guardedReading(settings: Settings): ResourcePolicy {
  return {
    bodyLimitBytes: settings.BODY_LIMIT_BYTES,
    requireIfMatch: settings.REQUIRE_IF_MATCH,
    publicRead: false,
    cacheControl: 'no-store',
  };
}

function productReading(settings: Settings): Pick<ResourcePolicy, 'publicRead' | 'cacheControl'> {
  if (settings.PUBLIC_READ !== 'products') return { publicRead: false, cacheControl: 'private, no-cache' };
  return { publicRead: true, cacheControl: `public, max-age=${settings.PUBLIC_MAX_AGE}` };
}

function asItIs<Fields>(fields: Fields): Fields {
  return fields;
}
