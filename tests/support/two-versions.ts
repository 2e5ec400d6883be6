import type { Server } from 'node:http';
import { join } from 'node:path';
import { createApp } from '#src/adapters/inbound/http/app.js';
import type { ImportTools } from '#src/adapters/inbound/http/import/import-route.js';
import { ResultBuffers } from '#src/adapters/inbound/http/import/result-buffer.js';
import { directClientIp } from '#src/adapters/inbound/http/middleware/client-ip.js';
import { cors } from '#src/adapters/inbound/http/middleware/cors.js';
import { openApiDocument } from '#src/adapters/inbound/http/openapi/document.js';
import { apiKeyRoutes } from '#src/adapters/inbound/http/resources/api-key-routes.js';
import { API_KEYS } from '#src/adapters/inbound/http/resources/api-keys.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/products.js';
import {
  describedBy,
  type ResourceDefinition,
} from '#src/adapters/inbound/http/resources/resource-definition.js';
import { resourceRoutes } from '#src/adapters/inbound/http/resources/resource-routes.js';
import { USERS } from '#src/adapters/inbound/http/resources/users.js';
import type { Route } from '#src/adapters/inbound/http/route.js';
import { createPlainServer } from '#src/adapters/inbound/http/server/server.js';
import { Deprecation } from '#src/adapters/inbound/http/versioning/deprecation.js';
import { WorkLimits } from '#src/adapters/inbound/http/work-limits.js';
import { RandomBackoff } from '#src/adapters/outbound/system/backoff.js';
import type { Repository } from '#src/application/ports/repository.js';
import { RecordService } from '#src/application/records/record-service.js';
import type { RecordRules } from '#src/application/records/record-validator.js';
import { fieldReader, type RecordView } from '#src/application/records/record-view.js';
import { type Application, compose } from '#src/composition/container.js';
import { listen } from '#src/composition/listen.js';
import { loadSettings } from '#src/config/settings.js';
import { indexedFields } from '#src/domain/fields.js';
import { normalizeProduct, PRODUCT, type Product } from '#src/domain/product.js';
import { NAME } from '#src/domain/text.js';
import { USER, type User } from '#src/domain/user.js';
import { HttpClient } from './http-client.js';
import { FIRST_KEY } from './in-process-service.js';
import { DocumentedResponses } from './openapi/documented-responses.js';
import { temporaryFolder } from './temporary-folder.js';

/** Products in version 2: the name is a title, and neither description nor attributes are shown. */
const { name: TITLE, sku: SKU, price: PRICE } = PRODUCT;
const readTitled = fieldReader<Product>({ name: TITLE, sku: SKU, price: PRICE });

export const TITLED_PRODUCTS: ResourceDefinition<Product> = {
  ...PRODUCTS,
  ...describedBy({ title: TITLE, sku: SKU, price: PRICE }),
  version: 2,
  docs: { ...PRODUCTS.docs, name: 'TitledProduct', example: { title: 'Desk lamp', sku: 'LAMP-1' } },
  // Lists ask stores, which know the name alone.
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

/** A user as it is stored since there is a version 2. */
interface SplitUser extends User {
  /** The end of the name. Only version 2 knows where the last name begins: "Dick" "van Dyke". */
  readonly lastName?: string;
}

const LAST_NAME = { kind: 'text', ...NAME, max: 100 } as const;
const readSplit = fieldReader<SplitUser>({ ...USER, lastName: LAST_NAME });

/** Users in version 2: the name is split in two. Together they are as long as a name may be. */
export const SPLIT_USERS: ResourceDefinition<SplitUser> = {
  ...USERS,
  ...describedBy({ firstName: { ...USER.name, max: 99 }, lastName: LAST_NAME, email: USER.email }),
  version: 2,
  docs: {
    ...USERS.docs,
    name: 'SplitUser',
    example: { firstName: 'Dick', lastName: 'van Dyke', email: 'dick@example.com' },
  },
  fields: indexedFields({ email: USER.email }),
  present: ({ id, fields: { name, lastName, email } }) => ({ id, ...split(name, lastName), email }),
  toFields: ({ firstName, lastName, email }, current) => {
    const name = lastName === undefined ? firstName : `${firstName} ${lastName}`;
    return readSplit({ name, email, ...(lastName !== undefined && { lastName }) }, current);
  },
};

/** Version 1 may have changed the name since: then its last word is the last name. */
function split(name: string, lastName: string | undefined): { firstName: string; lastName?: string } {
  const last = lastName !== undefined && name.endsWith(` ${lastName}`) ? lastName : name.split(' ').at(-1);
  const firstName = name.slice(0, -` ${last}`.length);
  return last === undefined || firstName === '' ? { firstName: name } : { firstName, lastName: last };
}

export const DEPRECATION = new Deprecation({ since: '2026-09-01T00:00:00Z', sunset: '2027-09-01T00:00:00Z' });
/** What every answer of version 1 says of it. */
export const ANNOUNCED = { deprecation: '@1788220800', sunset: 'Wed, 01 Sep 2027 00:00:00 GMT' };

export interface TwoVersions {
  readonly client: HttpClient;
}

/**
 * Endpoints over the use cases and the store of the service, for the tests of one `describe`.
 * It takes the definitions one by one, so it does not depend on the versions that the service has.
 * @param served absent: products in two versions, of which the first is deprecated, API keys in two, users in one
 */
export function twoVersions(environment: Record<string, string> = {}, served = inTwoVersions): TwoVersions {
  const state: { client?: HttpClient } = {};
  const settings = loadSettings({
    STORE: 'memory',
    DATA_DIR: temporaryFolder(),
    LOG_LEVEL: 'silent',
    RATE_LIMIT_REQUESTS: '1000000',
    ...environment,
  });
  let application: Application;
  let server: Server;
  before(async () => {
    application = await compose(settings);
    await application.storage.store.open();
    await application.keyAdministration.createFirst(FIRST_KEY);
    const routes = served(application);
    server = createPlainServer(app(application, routes).callback());
    state.client = new HttpClient(await listen(server, '127.0.0.1', 0), undefined, FIRST_KEY);
    state.client.documented = new DocumentedResponses(described(settings.CORS_ORIGINS, routes));
  });
  after(async () => {
    state.client?.close();
    server.close();
    server.closeAllConnections();
    await application.storage.store.close();
  });
  return state as TwoVersions;
}

function app({ serviceParts }: Application, routes: readonly Route[]) {
  const { settings, authenticator, rateLimits, logger, clock } = serviceParts;
  return createApp({
    clientIp: directClientIp,
    cors: cors(settings.CORS_ORIGINS),
    accessControl: { authenticator, limiter: rateLimits.requests },
    routes,
    metadataUrl: () => 'https://localhost/.well-known/oauth-protected-resource',
    logger: logger,
    clock,
    isDraining: () => false,
    limits: new WorkLimits(1_048_576),
  });
}

function described(CORS_ORIGINS: string, guarded: readonly Route[]): object {
  const facts = { url: 'https://localhost', version: '0', tags: {}, isProxied: false, isStrict: false };
  return openApiDocument(guarded, { ...facts, isShared: CORS_ORIGINS !== '' });
}

const POLICY = {
  bodyLimitBytes: 2_000,
  requireIfMatch: false,
  publicRead: false,
  cacheControl: 'private, no-cache',
};

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

/** The second version alone. */
export function titledProducts(application: Application): Route[] {
  const service = serviceOf(application, 'products', TITLED_PRODUCTS, { normalize: normalizeProduct });
  return resourceRoutes(TITLED_PRODUCTS, service, POLICY, importTools(application));
}

/** Users in both versions, neither deprecated. */
export function splitUsers(application: Application): Route[] {
  const service = serviceOf<SplitUser>(application, 'users', SPLIT_USERS);
  const { users } = application.resources;
  return [
    ...resourceRoutes(USERS, users.service, POLICY, importTools(application)),
    ...resourceRoutes(SPLIT_USERS, service, POLICY, importTools(application)),
  ];
}

/** The service of a second version, over the records, the reservations and the ids of the first. */
function serviceOf<Fields>(
  { storage, resources, clock }: Application,
  name: 'products' | 'users',
  view: RecordView<Fields>,
  rules: RecordRules<Fields> = {},
): RecordService<Fields> {
  return new RecordService({
    records: storage[name] as Repository<never> as Repository<Fields>,
    reservations: storage.reservations[name],
    ids: resources[name].ids,
    clock,
    backoff: new RandomBackoff(),
    view,
    rules,
  });
}

function importTools({ serviceParts }: Application): ImportTools {
  const { settings, logger } = serviceParts;
  const folder = join(settings.DATA_DIR, 'spool');
  return { resultBuffers: new ResultBuffers({ folder }), logger: logger };
}
