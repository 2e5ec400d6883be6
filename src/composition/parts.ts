import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ConcurrencyLimits } from '../adapters/inbound/http/core/concurrency-limits.js';
import type { Route } from '../adapters/inbound/http/core/route.js';
import { ResultBuffers } from '../adapters/inbound/http/import/result-buffer.js';
import { changesPath } from '../adapters/inbound/http/lists/changes.js';
import { metadataRoutes } from '../adapters/inbound/http/oauth/metadata-routes.js';
import { tokenRoute } from '../adapters/inbound/http/oauth/token-route.js';
import { consoleRoutes, docsRoutes, openApiRoute, rootRoute } from '../adapters/inbound/http/pages/pages.js';
import type { MetricsReport } from '../adapters/inbound/http/pipeline/app.js';
import type { Channel } from '../adapters/outbound/cluster/messages.js';
import type { Tracing } from '../adapters/outbound/opentelemetry/tracing.js';
import type { PinoLogger } from '../adapters/outbound/pino/logger.js';
import { PrometheusMetrics } from '../adapters/outbound/prometheus/metrics.js';
import { collectServiceMetrics } from '../adapters/outbound/prometheus/service-metrics.js';
import { createFolder } from '../adapters/outbound/sqlite/connection/files.js';
import { RandomBackoff, SystemClock, SystemTimer } from '../adapters/outbound/system/clock.js';
import { newApiKey } from '../adapters/outbound/system/random.js';
import { issuerOf } from '../adapters/outbound/tokens/decode-jwt.js';
import { ExternalTokenVerifier } from '../adapters/outbound/tokens/external-token-verifier.js';
import { fetchKeySet } from '../adapters/outbound/tokens/issuer-metadata.js';
import { JwksCache } from '../adapters/outbound/tokens/jwks-cache.js';
import { Rs256TokenSigner } from '../adapters/outbound/tokens/rs256-key.js';
import { HttpsWebhookTransport } from '../adapters/outbound/webhooks/https-transport.js';
import { AccessTokens } from '../application/auth/access-tokens.js';
import { type ApiKeyService, ApiKeyVerifier } from '../application/auth/api-keys.js';
import { Authenticator, type ExternalIssuer } from '../application/auth/authenticator.js';
import { CredentialCache } from '../application/auth/credential-cache.js';
import { UsageCounter } from '../application/auth/key-usage.js';
import { SigningKeys } from '../application/auth/signing-keys.js';
import type { ChangeWatch } from '../application/changes/change-watch.js';
import { QueryBudget } from '../application/maintenance/query-budget.js';
import { Retention } from '../application/maintenance/retention.js';
import { SearchIndexing } from '../application/maintenance/search-indexing.js';
import type { FeedState } from '../application/ports/change-feed.js';
import type { Backoff, Clock, Timer } from '../application/ports/clock.js';
import type { Observer } from '../application/ports/observer.js';
import type { Store } from '../application/ports/store.js';
import type { TokenSigner } from '../application/ports/tokens.js';
import type { WebhookTransport } from '../application/ports/webhooks.js';
import type { IdAllocator } from '../application/records/id-allocator.js';
import { Deliveries } from '../application/webhooks/deliveries.js';
import { WebhookSender } from '../application/webhooks/webhook-sender.js';
import type { Settings } from '../config/settings.js';
import { packageVersion } from '../config/settings.js';
import { RESOURCES, type ResourceName } from '../domain/record.js';
import { PublicUrl } from '../shared/public-url.js';
import { groupMetrics, standardErrorLogger } from './cluster.js';
import { indexingWords, type Job, maintainingFeeds, purging, savingUsage, sendingWebhooks } from './jobs.js';
import { describedService } from './openapi.js';
import { countedLimits, type MakeRateLimits, type RateLimits } from './rate-limits.js';
import { collectionPaths, composeResources, DEFINITIONS, type Resources } from './resources.js';
import { observedBy, type Storage, storageOf } from './storage.js';
import type { MakeParts } from './stores/registration.js';
import { TABLES } from './tables.js';
import type { MakeTracing } from './tracing.js';
import { TRANSPORTS, type Transport } from './transports.js';

/** What differs between programs: which adapters are loaded, and what a test replaces. */
export interface Choices {
  readonly settings: Settings;
  /** @throws StoreConfigError */
  readonly makeParts: MakeParts;
  readonly makeRateLimits: MakeRateLimits;
  /** Absent: no traces. */
  readonly makeTracing?: MakeTracing;
  /** In a cluster worker: its channel to the primary, which counts for all workers. */
  readonly primary?: Channel | undefined;
  /** Default: true. False only to find out what the metrics cost: requests and calls of the store are not counted. */
  readonly isMeasured?: boolean;
  /** Default: the one of the system. */
  readonly clock?: Clock | undefined;
}

/** The composed program. Each part is made at its first use. */
export interface Application {
  readonly choices: Choices;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly backoff: Backoff;
  readonly timer: Timer;
  readonly logger: PinoLogger;
  readonly metrics: PrometheusMetrics;
  /** Undefined: no traces are recorded. */
  readonly tracing: Tracing | undefined;
  /** Learn of every call of the store and of Redis. */
  readonly storeObservers: readonly Observer[];
  readonly storage: Storage;
  readonly store: Store;
  readonly feedState: FeedState;
  readonly rateLimits: RateLimits;

  readonly newApiKey: () => string;
  readonly credentialCache: CredentialCache;
  readonly apiKeys: ApiKeyService;
  readonly apiKeyVerifier: ApiKeyVerifier;
  readonly usageCounter: UsageCounter;
  readonly publicUrl: PublicUrl;
  readonly tokenSigner: TokenSigner;
  readonly signingKeys: SigningKeys;
  readonly accessTokens: AccessTokens;
  readonly externalIssuer: ExternalIssuer | undefined;
  readonly authenticator: Authenticator;

  readonly webhookTransport: WebhookTransport;
  readonly deliveries: Deliveries;
  readonly webhookSender: WebhookSender;

  readonly resources: Resources;
  /** The ids that each resource has reserved in the store. */
  readonly ids: readonly IdAllocator[];
  /** Those who wait for changes. */
  readonly watches: Readonly<Partial<Record<ResourceName, ChangeWatch>>>;
  /** The routes of the built-in token issuer. */
  readonly oauthRoutes: readonly Route[];
  /** All routes except the probes. */
  readonly routes: readonly Route[];
  /** To be used when the service knows its URL. */
  readonly openApiDocument: object;

  /** Learn of every request. */
  readonly observers: readonly Observer[];
  readonly limits: ConcurrencyLimits;
  readonly transport: Transport;
  readonly metricsReport: MetricsReport;
  /** Run while the store is open. */
  readonly jobs: readonly Job[];
  /** Creates a folder that only its owner may use. */
  readonly createFolder: (folder: string) => void;
  readonly serviceParts: ServiceParts;
}

/** The parts of a service that runs. */
const SERVICE_PARTS = [
  'settings',
  'clock',
  'logger',
  'tracing',
  'store',
  'rateLimits',
  'newApiKey',
  'apiKeys',
  'publicUrl',
  'authenticator',
  'ids',
  'watches',
  'feedState',
  'routes',
  'observers',
  'limits',
  'transport',
  'metricsReport',
  'jobs',
  'createFolder',
] as const;
export type ServiceParts = Pick<Application, (typeof SERVICE_PARTS)[number]>;

/** Longer than a pause within an upload, and still short for a client that waits for the result of its first line. */
const FIRST_BYTE_DELAY_MS = 500;

/** 32 random bytes: Standard Webhooks asks for 24 to 64. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function newMessageId(): string {
  return `msg_${randomUUID().replaceAll('-', '')}`;
}

/** How each part is made of others. */
export const MAKERS: {
  readonly [Name in Exclude<keyof Application, 'choices'>]: (parts: Application) => Application[Name];
} = {
  settings: ({ choices }) => choices.settings,
  clock: ({ choices }) => choices.clock ?? new SystemClock(),
  backoff: () => new RandomBackoff(),
  timer: () => new SystemTimer(),
  logger: ({ settings }) => standardErrorLogger(settings),
  metrics: ({ clock }) => new PrometheusMetrics(clock),
  tracing: ({ choices, logger }) => choices.makeTracing?.(logger),
  storeObservers: ({ choices: { isMeasured = true }, metrics, tracing }) => [
    ...(isMeasured ? [metrics] : []),
    ...(tracing ? [tracing] : []),
  ],
  storage: ({ choices, settings, clock, logger, storeObservers }) => {
    const budget = new QueryBudget(clock, settings.QUERY_TIMEOUT_MS);
    const made = choices.makeParts({ tables: TABLES, budget, logger });
    return storageOf(made, observedBy(storeObservers, settings.STORE));
  },
  store: ({ storage }) => storage.store,
  feedState: ({ storage }) => storage.feedState,
  rateLimits: ({ choices, settings, clock, metrics, logger, storeObservers: observers }) => {
    const { makeRateLimits, primary, isMeasured = true } = choices;
    const limits = makeRateLimits({ settings, clock, metrics, logger, primary, observers });
    return isMeasured ? countedLimits(limits, metrics) : limits;
  },

  newApiKey: () => newApiKey,
  credentialCache: ({ clock }) => new CredentialCache(clock),
  apiKeys: ({ resources }) => resources.apiKeys.service,
  apiKeyVerifier: ({ storage: { apiKeys: keys }, clock, logger }) =>
    new ApiKeyVerifier({ keys, clock, logger }),
  usageCounter: ({ storage: { usage: store }, clock }) =>
    new UsageCounter({ store, clock, newName: randomUUID }),
  publicUrl: ({ settings }) => new PublicUrl(settings),
  tokenSigner: () => new Rs256TokenSigner(),
  signingKeys: ({ storage: { signingKeys: keys }, tokenSigner: signer, clock, logger }) =>
    new SigningKeys({ keys, signer, clock, logger }),
  accessTokens: ({ signingKeys, apiKeyVerifier: apiKeys, tokenSigner: signer, publicUrl, clock }) =>
    new AccessTokens({ signingKeys, apiKeys, signer, publicUrl, clock }),
  externalIssuer: ({ settings, clock, logger }) => {
    const { OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: audience } = settings;
    if (issuer === '') return undefined;
    const keys = new JwksCache({ issuer, fetchKeySet, clock, logger });
    return { issuer, tokens: new ExternalTokenVerifier({ expected: { issuer, audience }, keys, clock }) };
  },
  authenticator: (parts) => {
    const { credentialCache: cache, apiKeyVerifier: apiKeys, accessTokens, clock } = parts;
    const {
      rateLimits: { failures },
      externalIssuer: external,
    } = parts;
    return new Authenticator({ cache, clock, failures, apiKeys, accessTokens, external, issuerOf });
  },

  webhookTransport: ({ settings }) => new HttpsWebhookTransport(settings.WEBHOOK_NETWORKS),
  deliveries: ({
    storage: { webhookStates: states, apiKeys: keys },
    webhookTransport: transport,
    clock,
    backoff,
  }) => new Deliveries({ states, keys, transport, clock, backoff, newMessageId }),
  webhookSender: (parts) => {
    const { storage, deliveries, watches, publicUrl, clock, timer, logger, metrics } = parts;
    const { webhooks, apiKeys: keys, changes: feeds } = storage;
    return new WebhookSender({
      webhooks,
      deliveries,
      keys,
      feeds,
      watches,
      clock,
      timer,
      logger,
      metrics,
      owner: randomUUID(),
      addressOf: (resource, position) =>
        publicUrl.addressOf(changesPath(DEFINITIONS[resource], { position, at: clock.now() })),
    });
  },

  resources: (parts) => {
    const { settings, storage, clock, backoff, timer, logger } = parts;
    const { newApiKey: newKey, credentialCache: credentials } = parts;
    const resultBuffers = new ResultBuffers({
      // The unread results of imports. The folder keeps the name that it has in existing installations.
      folder: join(settings.DATA_DIR, 'spool'),
      firstByteDelayMs: settings.TLS === 'proxy' ? FIRST_BYTE_DELAY_MS : 0,
    });
    const imports = { resultBuffers, logger };
    const webhooks = {
      deliveries: parts.deliveries,
      transport: parts.webhookTransport,
      newSecret,
      onChange: () => parts.webhookSender.wake(),
    };
    return composeResources({
      settings,
      storage,
      clock,
      backoff,
      timer,
      newKey,
      credentials,
      logger,
      imports,
      webhooks,
    });
  },
  ids: ({ resources }) => Object.values(resources).map(({ ids }) => ids),
  watches: ({ resources }) =>
    Object.fromEntries(
      RESOURCES.flatMap((name) => {
        const { watch } = resources[name];
        return watch ? [[name, watch]] : [];
      }),
    ),
  oauthRoutes: ({ settings, authenticator, accessTokens, signingKeys, publicUrl }) => [
    tokenRoute({ accessTokens, authenticator, bodyLimitBytes: settings.BODY_LIMIT_BYTES }),
    ...metadataRoutes({ publicUrl, signingKeys, otherIssuer: settings.OAUTH_ISSUER }),
  ],
  routes: (parts) => [
    ...Object.values(parts.resources).flatMap(({ routes }) => routes),
    ...parts.oauthRoutes,
    openApiRoute(() => parts.openApiDocument),
    ...docsRoutes(),
    ...consoleRoutes(),
    rootRoute(collectionPaths(parts.resources), parts.publicUrl),
  ],
  openApiDocument: ({ settings, routes, publicUrl: { url } }) => describedService({ settings, routes, url }),

  observers: ({ logger, usageCounter, storeObservers }) => [logger, usageCounter, ...storeObservers],
  limits: ({ settings }) => new ConcurrencyLimits(settings.BODY_LIMIT_BYTES),
  transport: ({ settings, clock, logger }) => TRANSPORTS[settings.TLS](settings, clock, logger),
  metricsReport: (parts) => {
    const { settings, metrics, clock, logger, store, feedState, limits, transport } = parts;
    const { DATA_DIR: dataDir, STORE, RATE_LIMITER, CHANGES } = settings;
    collectServiceMetrics(metrics, {
      build: { version: packageVersion(), store: STORE, rate_limiter: RATE_LIMITER },
      clock,
      store,
      feedState,
      limits,
      dataDir,
      webhooks: CHANGES === 'on' ? parts.webhookSender : undefined,
      certificate: transport.certificate,
    });
    const { primary } = parts.choices;
    return primary ? groupMetrics(metrics, primary, logger) : metrics;
  },
  jobs: (parts) => {
    const { settings, storage, clock, logger, usageCounter } = parts;
    return [
      purging(new Retention(storage.purgeable, clock)),
      savingUsage(usageCounter),
      indexingWords(new SearchIndexing(storage.searchIndexes, logger)),
      ...(settings.CHANGES === 'on' ? [sendingWebhooks(parts.webhookSender)] : []),
      ...maintainingFeeds(parts.feedState, clock),
    ];
  },
  createFolder: () => createFolder,
  serviceParts: (parts) =>
    Object.fromEntries(SERVICE_PARTS.map((name) => [name, parts[name]])) as unknown as ServiceParts,
};
