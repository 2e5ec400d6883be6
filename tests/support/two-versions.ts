import { join } from 'node:path';
import type { ResourceDefinition } from '#src/adapters/inbound/http/core/resource-definition.js';
import { Deprecation, type Route } from '#src/adapters/inbound/http/core/route.js';
import type { ImportTools } from '#src/adapters/inbound/http/import/import-handler.js';
import { ResultBuffers } from '#src/adapters/inbound/http/import/result-buffer.js';
import { openApiDocument } from '#src/adapters/inbound/http/openapi/document.js';
import { API_KEYS, apiKeyRoutes } from '#src/adapters/inbound/http/resources/api-keys.js';
import { fromFieldTable, PRODUCTS, USERS } from '#src/adapters/inbound/http/resources/definitions.js';
import { resourceRoutes } from '#src/adapters/inbound/http/resources/resource-routes.js';
import { RandomBackoff } from '#src/adapters/outbound/system/clock.js';
import type { Observer, RequestEntry } from '#src/application/ports/observer.js';
import type { Repository } from '#src/application/ports/repository.js';
import { fieldReader } from '#src/application/records/record-format.js';
import type { RecordService } from '#src/application/records/record-service.js';
import type { Application } from '#src/composition/application.js';
import { RECORD_TABLES } from '#src/composition/tables.js';
import { indexedFields } from '#src/domain/fields.js';
import { PRODUCT, type Product } from '#src/domain/product.js';
import { NAME } from '#src/domain/text.js';
import { USER, type User } from '#src/domain/user.js';
import { inProcessService } from './in-process-service.js';
import { DocumentedResponses } from './openapi/documented-responses.js';
import { recordService } from './record-service.js';

/** Products in version 2: `name` is `title`, and description and attributes are hidden. */
const { name: TITLE, sku: SKU, price: PRICE } = PRODUCT;
const readTitled = fieldReader<Product>({ name: TITLE, sku: SKU, price: PRICE });

const TITLED_PRODUCTS: ResourceDefinition<Product> = {
  ...PRODUCTS,
  ...fromFieldTable({ title: TITLE, sku: SKU, price: PRICE }),
  version: 2,
  docs: { ...PRODUCTS.docs, name: 'TitledProduct' },
  // Lists filter and sort in the store, which has no field `title`.
  fields: indexedFields({ sku: SKU, price: PRICE }),
  present: ({ id, fields: { name, sku, price } }) => ({
    id,
    title: name,
    ...(sku !== undefined && { sku }),
    ...(price && { price }),
  }),
  toFields: ({ title, ...rest }, current) =>
    readTitled({ ...rest, ...(title !== undefined && { name: title }) }, current),
};

/** A user as version 2 stores it. */
interface SplitUser extends User {
  /** The end of the name. Only version 2 knows where the last name starts: "Dick" "van Dyke". */
  readonly lastName?: string;
}

const LAST_NAME = { description: 'The last name', kind: 'text', ...NAME, max: 100, example: 'van Dyke' } as const;
const readSplit = fieldReader<SplitUser>({ ...USER, lastName: LAST_NAME });

/** Users in version 2: the name is split in two parts, which permit its maximum length. */
const SPLIT_USERS: ResourceDefinition<SplitUser> = {
  ...USERS,
  ...fromFieldTable({ firstName: { ...USER.name, max: 99, example: 'Dick' }, lastName: LAST_NAME, email: USER.email }),
  version: 2,
  docs: { ...USERS.docs, name: 'SplitUser' },
  fields: indexedFields({ email: USER.email }),
  present: ({ id, fields: { name, lastName, email } }) => ({ id, ...split(name, lastName), email }),
  toFields: ({ firstName, lastName, email }, current) => {
    const name = lastName === undefined ? firstName : `${firstName} ${lastName}`;
    return readSplit({ name, email, ...(lastName !== undefined && { lastName }) }, current);
  },
};

/** Splits a name. If version 1 has changed it since, its last word is the last name. */
function split(name: string, lastName: string | undefined): { firstName: string; lastName?: string } {
  const last = lastName !== undefined && name.endsWith(` ${lastName}`) ? lastName : name.split(' ').at(-1);
  const firstName = name.slice(0, -` ${last}`.length);
  return last === undefined || firstName === '' ? { firstName: name } : { firstName, lastName: last };
}

const DEPRECATION = new Deprecation({ since: '2026-09-01T00:00:00Z', sunset: '2027-09-01T00:00:00Z' });
/** The headers in every response of version 1. */
export const ANNOUNCED = { deprecation: '@1788220800', sunset: 'Wed, 01 Sep 2027 00:00:00 GMT' };

/**
 * Serves routes that the service itself does not have, over its use cases and its store, for the tests of one
 * `describe`. It takes the definitions one by one, so it does not depend on the versions of the service.
 * @param routesOf by default products in two versions, of which the first is deprecated, API keys in two, users in one
 */
export function twoVersions(environment: Record<string, string> = {}, routesOf = inTwoVersions) {
  /** What observers were told of each request. */
  const entries: RequestEntry[] = [];
  const observer: Observer = { request: () => ({ end: (entry) => void entries.push(entry) }) };
  let routes: Route[];
  const service = inProcessService(environment, {
    parts: (application) => {
      routes = routesOf(application);
      return { routes, observers: [...application.observers, observer] };
    },
  });
  before(() => {
    service.client.documented = new DocumentedResponses(documentOf(environment['CORS_ORIGINS'] ?? '', routes));
  });
  return Object.assign(service, { entries });
}

function documentOf(CORS_ORIGINS: string, routes: readonly Route[]): object {
  const facts = { url: 'https://localhost', version: '0', resources: [], requireIfMatch: false };
  return openApiDocument(routes, { ...facts, isProxied: false, hasHsts: false, hasCors: CORS_ORIGINS !== '' });
}

const POLICY = { bodyLimitBytes: 2_000, requireIfMatch: false, cacheControl: 'private, no-cache' };

function inTwoVersions(application: Application): Route[] {
  const { products, users, apiKeys } = application.resources;
  const first = { ...PRODUCTS, deprecation: DEPRECATION };
  const keys = { ...API_KEYS, version: 2, docs: { ...API_KEYS.docs, name: 'SecondApiKey' } };
  return [
    ...resourceRoutes(first, products.service, POLICY, importTools(application)),
    ...titledProducts(application),
    ...apiKeyRoutes(API_KEYS, apiKeys.service, POLICY),
    ...apiKeyRoutes(keys, apiKeys.service, POLICY),
    ...resourceRoutes(USERS, users.service, POLICY, importTools(application)),
  ];
}

/** Returns the routes of the second version of products. */
export function titledProducts(application: Application): Route[] {
  const service = serviceOf(application, 'products', TITLED_PRODUCTS);
  return resourceRoutes(TITLED_PRODUCTS, service, POLICY, importTools(application));
}

/** Returns the routes of users in both versions, neither deprecated. */
export function splitUsers(application: Application): Route[] {
  const service = serviceOf<SplitUser>(application, 'users', SPLIT_USERS);
  const { users } = application.resources;
  return [
    ...resourceRoutes(USERS, users.service, POLICY, importTools(application)),
    ...resourceRoutes(SPLIT_USERS, service, POLICY, importTools(application)),
  ];
}

/** Returns the service of a second version, which shares the records, reservations and ids of the first. */
function serviceOf<Fields>(
  { storage, resources, clock }: Application,
  name: 'products' | 'users',
  view: ResourceDefinition<Fields>,
): RecordService<Fields> {
  return recordService(storage[name] as Repository<never> as Repository<Fields>, view, {
    reservations: storage.reservations[name],
    ids: resources[name].ids,
    clock,
    backoff: new RandomBackoff(),
    fields: RECORD_TABLES[name].fields,
  });
}

function importTools({ settings, logger }: Application): ImportTools {
  const folder = join(settings.DATA_DIR, 'import-results');
  return { resultBuffers: new ResultBuffers({ folder }), logger };
}
