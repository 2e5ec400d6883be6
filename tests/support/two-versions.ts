import type { Server } from 'node:http';
import Joi from 'joi';
import { ApiKeyEndpoints } from '#src/adapters/inbound/http/api-key-endpoints.js';
import { createApp } from '#src/adapters/inbound/http/app.js';
import { integer, text } from '#src/adapters/inbound/http/bodies/schema.js';
import type { ImportTools } from '#src/adapters/inbound/http/import/import-route.js';
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
import { compose } from '#src/composition/container.js';
import { listen } from '#src/composition/listen.js';
import * as t from '#src/composition/tokens.js';
import type { Get } from '#src/composition/typed-token.js';
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
  const get = compose(settings);
  let server: Server;
  before(async () => {
    await get(t.STORE).open();
    await get(t.KEY_ADMINISTRATION).createFirst(FIRST_KEY);
    const endpoints = served(get);
    server = createPlainServer(app(get, endpoints).callback());
    state.client = new HttpClient(await listen(server, '127.0.0.1', 0), undefined, FIRST_KEY);
    state.client.documented = new DocumentedAnswers(described(get, endpoints));
  });
  after(async () => {
    state.client?.close();
    server.close();
    server.closeAllConnections();
    await get(t.STORE).close();
  });
  return state as TwoVersions;
}

function app(get: Get, routes: readonly Route[]) {
  const settings = get(t.SETTINGS);
  return createApp({
    arrival: fromClients,
    crossOrigin: shareAcrossOrigins(settings.CORS_ORIGINS),
    gate: {
      authenticator: get(t.AUTHENTICATOR),
      limiter: get(t.REQUEST_LIMITER),
    },
    routes,
    metadataUrl: () => 'https://localhost/.well-known/oauth-protected-resource',
    journal: get(t.JOURNAL),
    clock: get(t.CLOCK),
    isDraining: () => false,
    bounds: new WorkBounds(1_048_576),
  });
}

function described(get: Get, routes: readonly Route[]): object {
  const { CORS_ORIGINS } = get(t.SETTINGS);
  const facts = { url: 'https://localhost', version: '0', tags: {}, isProxied: false, isStrict: false };
  return openApiDocument(routes, { ...facts, isShared: CORS_ORIGINS !== '' });
}

const POLICY = {
  bodyLimitBytes: 2_000,
  requireIfMatch: false,
  publicRead: false,
  cacheControl: 'private, no-cache',
};

function inTwoVersions(get: Get): Route[] {
  const useCases = get(t.PRODUCTS.useCases);
  const first = { ...PRODUCTS, deprecation: DEPRECATION };
  const keys = { ...API_KEYS, version: 2, words: { ...API_KEYS.words, name: 'SecondApiKey' } };
  return [
    ...new ResourceEndpoints(first, useCases, POLICY, importTools(get)).endpoints(),
    ...titledProducts(get),
    ...get(t.API_KEYS.endpoints),
    ...new ApiKeyEndpoints(keys, get(t.API_KEYS.useCases), POLICY, importTools(get)).endpoints(),
    ...get(t.USERS.endpoints),
  ];
}

/** The second version alone. */
export function titledProducts(get: Get): Route[] {
  const records = new TranslatedRecords(get(t.PRODUCTS.useCases), TITLED);
  return new ResourceEndpoints(TITLED_PRODUCTS, records, POLICY, importTools(get)).endpoints();
}

function importTools(get: Get): ImportTools {
  return { resultBuffers: get(t.SPOOLS), journal: get(t.JOURNAL) };
}
