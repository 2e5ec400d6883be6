import type { Server } from 'node:http';
import { join } from 'node:path';
import Joi from 'joi';
import { ApiKeyEndpoints } from '#src/adapters/inbound/http/api-key-endpoints.js';
import { createApp } from '#src/adapters/inbound/http/app.js';
import { integer, text } from '#src/adapters/inbound/http/bodies/schema.js';
import type { ImportTools } from '#src/adapters/inbound/http/import/import-route.js';
import { ResultBuffers } from '#src/adapters/inbound/http/import/result-buffer.js';
import { fromClients } from '#src/adapters/inbound/http/middleware/client-ip.js';
import { shareAcrossOrigins } from '#src/adapters/inbound/http/middleware/cors.js';
import { openApiDocument } from '#src/adapters/inbound/http/openapi/document.js';
import type { ResourceDescription } from '#src/adapters/inbound/http/resource-description.js';
import { ResourceEndpoints } from '#src/adapters/inbound/http/resource-endpoints.js';
import { API_KEYS } from '#src/adapters/inbound/http/resources/api-keys.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/products.js';
import type { Route } from '#src/adapters/inbound/http/route.js';
import { createPlainServer } from '#src/adapters/inbound/http/server/server.js';
import { Deprecation } from '#src/adapters/inbound/http/versioning/deprecation.js';
import {
  TranslatedRecords,
  type Translation,
} from '#src/adapters/inbound/http/versions/translated-records.js';
import { WorkBounds } from '#src/adapters/inbound/http/work-bounds.js';
import { type Application, compose } from '#src/composition/container.js';
import { listen } from '#src/composition/listen.js';
import { loadSettings } from '#src/config/settings.js';
import { AMOUNT, CURRENCY, PRODUCT_FIELDS, type Product, SKU } from '#src/domain/product.js';
import { NAME } from '#src/domain/text.js';
import { HttpClient } from './http-client.js';
import { FIRST_KEY } from './in-process-service.js';
import { DocumentedAnswers } from './openapi/documented-answers.js';
import { temporaryFolder } from './temporary-folder.js';

/** A product in version 2: its name is a title, and neither description nor attributes are shown. */
export interface TitledProduct extends Pick<Product, 'sku' | 'price'> {
  readonly title: string;
}

const { name: NAME_TRAITS, attributes: _attributes, ...REST_TRAITS } = PRODUCT_FIELDS;

export const TITLED_PRODUCTS: ResourceDescription<TitledProduct> = {
  path: 'products',
  version: 2,
  words: { ...PRODUCTS.words, name: 'TitledProduct', example: { title: 'Desk lamp', sku: 'LAMP-1' } },
  readScope: 'products:read',
  writeScope: 'products:write',
  fields: { title: NAME_TRAITS, ...REST_TRAITS },
  schema: Joi.object({
    title: text(NAME).required(),
    sku: text(SKU),
    price: Joi.object({
      amount: integer(AMOUNT).required(),
      currency: Joi.string().pattern(CURRENCY).required(),
    }),
  }),
  present: ({ id, fields: { title, sku, price } }) => ({ id, title, sku, price }),
};

export const TITLED: Translation<Product, TitledProduct> = {
  names: { title: 'name' },
  shown: ({ name, description: _description, attributes: _attributes, ...rest }) => ({
    title: name,
    ...rest,
  }),
  kept: ({ title, ...rest }, current) => ({
    ...rest,
    ...(title !== undefined && { name: title }),
    ...(current?.description !== undefined && { description: current.description }),
    ...(current?.attributes !== undefined && { attributes: current.attributes }),
  }),
};

export const DEPRECATION = new Deprecation({ since: '2026-09-01T00:00:00Z', sunset: '2027-09-01T00:00:00Z' });
/** What every answer of version 1 says of it. */
export const ANNOUNCED = { deprecation: '@1788220800', sunset: 'Wed, 01 Sep 2027 00:00:00 GMT' };

export interface TwoVersions {
  readonly client: HttpClient;
}

/**
 * Endpoints over the use cases and the store of the service, for the tests of one `describe`.
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
    const endpoints = served(application);
    server = createPlainServer(app(application, endpoints).callback());
    state.client = new HttpClient(await listen(server, '127.0.0.1', 0), undefined, FIRST_KEY);
    state.client.documented = new DocumentedAnswers(described(settings.CORS_ORIGINS, endpoints));
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
    arrival: fromClients,
    crossOrigin: shareAcrossOrigins(settings.CORS_ORIGINS),
    gate: { authenticator, limiter: rateLimits.requests },
    routes,
    metadataUrl: () => 'https://localhost/.well-known/oauth-protected-resource',
    journal: logger,
    clock,
    isDraining: () => false,
    bounds: new WorkBounds(1_048_576),
  });
}

function described(CORS_ORIGINS: string, routes: readonly Route[]): object {
  const facts = { url: 'https://localhost', version: '0', tags: {}, isProxied: false, isStrict: false };
  return openApiDocument(routes, { ...facts, isShared: CORS_ORIGINS !== '' });
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
  const keys = { ...API_KEYS, version: 2, words: { ...API_KEYS.words, name: 'SecondApiKey' } };
  return [
    ...new ResourceEndpoints(first, products.useCases, POLICY, importTools(application)).endpoints(),
    ...titledProducts(application),
    ...apiKeys.endpoints,
    ...new ApiKeyEndpoints(keys, apiKeys.useCases, POLICY, importTools(application)).endpoints(),
    ...users.endpoints,
  ];
}

/** The second version alone. */
export function titledProducts(application: Application): Route[] {
  const records = new TranslatedRecords(application.resources.products.useCases, TITLED);
  return new ResourceEndpoints(TITLED_PRODUCTS, records, POLICY, importTools(application)).endpoints();
}

function importTools({ serviceParts }: Application): ImportTools {
  const { settings, logger } = serviceParts;
  const folder = join(settings.DATA_DIR, 'spool');
  return { resultBuffers: new ResultBuffers({ folder }), journal: logger };
}
