import { ApiKeyEndpoints } from '../adapters/inbound/http/api-key-endpoints.js';
import type { ImportTools } from '../adapters/inbound/http/import/import-route.js';
import { ResourceEndpoints, type ResourcePolicy } from '../adapters/inbound/http/resource-endpoints.js';
import { API_KEYS } from '../adapters/inbound/http/resources/api-keys.js';
import { ORDERS } from '../adapters/inbound/http/resources/orders.js';
import { PRODUCTS } from '../adapters/inbound/http/resources/products.js';
import { USERS } from '../adapters/inbound/http/resources/users.js';
import type { Route } from '../adapters/inbound/http/route.js';
import { ApiKeyUseCases } from '../application/api-key-use-cases.js';
import { LeasedIds } from '../application/leased-ids.js';
import { OrderUseCases } from '../application/order-use-cases.js';
import type { IdempotencyStore } from '../application/ports/idempotency-store.js';
import type { Repository } from '../application/ports/repository.js';
import { type RecordDependencies, RecordUseCases } from '../application/record-use-cases.js';
import type { Settings } from '../config/settings.js';
import { apiKeyFaults } from '../domain/access.js';
import { orderFaults } from '../domain/order.js';
import { normalProduct, productFaults } from '../domain/product.js';
import { userFaults } from '../domain/user.js';
import type { Stored } from './stores.js';
import * as t from './tokens.js';
import type { Bind, Get } from './typed-token.js';

export function bindResources(bind: Bind): void {
  bindResource(bind, t.PRODUCTS, {
    records: (stored) => stored.products,
    reservations: (stored) => stored.reservations.products,
    useCases: (deps) =>
      new RecordUseCases({ ...deps, rules: { faults: productFaults, normal: normalProduct } }),
    endpoints: (useCases, { policy, imports, settings }) =>
      new ResourceEndpoints(
        PRODUCTS,
        useCases,
        { ...policy, ...productReading(settings) },
        imports,
      ).endpoints(),
  });
  bindResource(bind, t.USERS, {
    records: (stored) => stored.users,
    reservations: (stored) => stored.reservations.users,
    useCases: (deps) => new RecordUseCases({ ...deps, rules: { faults: userFaults, normal: asItIs } }),
    endpoints: (useCases, { policy, imports }) =>
      new ResourceEndpoints(USERS, useCases, policy, imports).endpoints(),
  });
  bindResource(bind, t.ORDERS, {
    records: (stored) => stored.orders,
    reservations: (stored) => stored.reservations.orders,
    useCases: (deps, { users, products }) =>
      new OrderUseCases({ ...deps, users, products, rules: { faults: orderFaults, normal: asItIs } }),
    endpoints: (useCases, { policy, imports }) =>
      new ResourceEndpoints(ORDERS, useCases, policy, imports).endpoints(),
  });
  bindResource(bind, t.API_KEYS, {
    records: (stored) => stored.apiKeys,
    reservations: (stored) => stored.reservations.apiKeys,
    useCases: (deps, _stored, get) => {
      const [format, credentials] = [get(t.KEY_FORMAT), get(t.CREDENTIAL_CACHE)];
      const rules = { faults: apiKeyFaults, normal: asItIs };
      return new ApiKeyUseCases({ ...deps, rules, format, credentials });
    },
    endpoints: (useCases, { policy, imports }) =>
      new ApiKeyEndpoints(API_KEYS, useCases, policy, imports).endpoints(),
  });
}

/** What a resource is made of, beside what is alike for all. */
interface Parts<Fields, UseCases extends RecordUseCases<Fields>> {
  records(stored: Stored): Repository<Fields>;
  reservations(stored: Stored): IdempotencyStore;
  useCases(deps: Omit<RecordDependencies<Fields>, 'rules'>, stored: Stored, get: Get): UseCases;
  /** Of all its versions. */
  endpoints(useCases: UseCases, edge: Edge): readonly Route[];
}

/** What the endpoints of every resource are made with. */
interface Edge {
  readonly policy: ResourcePolicy;
  readonly imports: ImportTools;
  readonly settings: Settings;
}

function bindResource<Fields, UseCases extends RecordUseCases<Fields>>(
  bind: Bind,
  name: t.ResourceTokens<Fields, UseCases>,
  parts: Parts<Fields, UseCases>,
): void {
  bind(name.ids, (get) => new LeasedIds(parts.records(get(t.STORED))));
  bind(name.useCases, (get) => {
    const [stored, ids, clock, backoff] = [get(t.STORED), get(name.ids), get(t.CLOCK), get(t.BACKOFF)];
    const [records, reservations] = [parts.records(stored), parts.reservations(stored)];
    return parts.useCases({ records, reservations, ids, clock, backoff }, stored, get);
  });
  bind(name.endpoints, (get) => {
    const settings = get(t.SETTINGS);
    const imports = { resultBuffers: get(t.SPOOLS), journal: get(t.JOURNAL) };
    const edge = { policy: guardedReading(settings), imports, settings };
    return parts.endpoints(get(name.useCases), edge);
  });
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
