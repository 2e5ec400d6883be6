import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { instanceCachingFactory, container as root } from 'tsyringe';
import { ConcurrencyLimits } from '../adapters/inbound/http/core/concurrency-limits.js';
import type { ResourceDefinition } from '../adapters/inbound/http/core/resource-definition.js';
import type { Route } from '../adapters/inbound/http/core/route.js';
import { ResultBuffers } from '../adapters/inbound/http/import/result-buffer.js';
import { changesPath } from '../adapters/inbound/http/lists/changes.js';
import { metadataRoutes } from '../adapters/inbound/http/oauth/metadata-routes.js';
import { tokenRoute } from '../adapters/inbound/http/oauth/token-route.js';
import { openApiDocument } from '../adapters/inbound/http/openapi/document.js';
import { consoleRoutes, docsRoutes, openApiRoute, rootRoute } from '../adapters/inbound/http/pages/pages.js';
import { CertificateError } from '../adapters/outbound/certificates/file-certificates.js';
import { GroupMetrics, MetricsServer } from '../adapters/outbound/cluster/metrics.js';
import type { Channel } from '../adapters/outbound/cluster/rate-limits.js';
import type { Tracing } from '../adapters/outbound/opentelemetry/tracing.js';
import { PinoLogger, standardErrorLog } from '../adapters/outbound/pino/logger.js';
import { ProcessMetrics, PrometheusMerger } from '../adapters/outbound/prometheus/merger.js';
import { PrometheusMetrics } from '../adapters/outbound/prometheus/metrics.js';
import { collectServiceMetrics } from '../adapters/outbound/prometheus/service-metrics.js';
import { createFolder } from '../adapters/outbound/sqlite/connection/files.js';
import { RandomBackoff, SystemClock, SystemTimer } from '../adapters/outbound/system/clock.js';
import { newApiKey } from '../adapters/outbound/system/random.js';
import { ExternalTokenVerifier } from '../adapters/outbound/tokens/external-tokens.js';
import { fetchKeySet, IssuerKeys } from '../adapters/outbound/tokens/issuer-keys.js';
import { issuerOf } from '../adapters/outbound/tokens/jwt.js';
import { Rs256TokenSigner } from '../adapters/outbound/tokens/rs256-key.js';
import { HttpsWebhookTransport } from '../adapters/outbound/webhooks/https-transport.js';
import { AccessTokens } from '../application/auth/access-tokens.js';
import { ApiKeyVerifier } from '../application/auth/api-keys.js';
import { Authenticator, type ExternalIssuer } from '../application/auth/authenticator.js';
import { CredentialCache } from '../application/auth/credential-cache.js';
import { UsageCounter } from '../application/auth/key-usage.js';
import { SigningKeys } from '../application/auth/signing-keys.js';
import type { ChangeWatch } from '../application/changes/change-watch.js';
import { Generation } from '../application/changes/feed-state.js';
import { DerivedDataBuild } from '../application/maintenance/derived-data-build.js';
import type { Clock } from '../application/ports/clock.js';
import type { Logger } from '../application/ports/logger.js';
import type { Observer } from '../application/ports/observer.js';
import { StoreConfigError } from '../application/ports/store.js';
import { QueryBudget } from '../application/records/lists.js';
import { Deliveries } from '../application/webhooks/deliveries.js';
import { WebhookSender } from '../application/webhooks/webhook-sender.js';
import { packageVersion, type Settings, SettingsError, type TracingSettings } from '../config/settings.js';
import { RESOURCES, type ResourceName } from '../domain/record.js';
import { PublicUrl } from '../shared/public-url.js';
import { serviceJobs } from './jobs.js';
import { countedLimits, type MakeRateLimits, RATE_LIMITERS, rateLimitServer } from './rate-limits.js';
import { collectionPaths, composeResources, DEFINITIONS } from './resources.js';
import { observedBy, storageOf } from './storage.js';
import { STORES } from './stores/index.js';
import type { MakeParts } from './stores/registration.js';
import { TABLES } from './tables.js';
import { TRANSPORTS } from './transports.js';

/** What differs between programs: which adapters are loaded, and what a test replaces. */
export interface CompositionOptions {
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

/** The composed program. Each part is made at its first use, by the factory of its name. */
export type Application = { readonly options: CompositionOptions } & {
  readonly [Name in keyof Factories]: ReturnType<Factories[Name]>;
};

/** Starts to record traces, if the settings ask for it. */
type MakeTracing = (logger: Logger) => Tracing | undefined;

/** Longer than a pause within an upload, and still short for a client that waits for the result of its first line. */
const FIRST_BYTE_DELAY_MS = 500;

/** How each part is made of others. */
class Factories {
  readonly settings = ({ options }: Application) => options.settings;
  readonly clock = ({ options }: Application): Clock => options.clock ?? new SystemClock();
  readonly backoff = () => new RandomBackoff();
  readonly timer = () => new SystemTimer();
  readonly logger = ({ settings }: Application) => standardErrorLogger(settings);
  readonly metrics = ({ clock }: Application) => new PrometheusMetrics(clock);
  /** Undefined: no traces are recorded. */
  readonly tracing = ({ options, logger }: Application) => options.makeTracing?.(logger);
  /** Learn of every call of the store and of Redis. */
  readonly storeObservers = ({ options, metrics, tracing }: Application): Observer[] =>
    [options.isMeasured !== false && metrics, tracing].filter((observer) => !!observer);
  readonly budget = ({ settings, clock }: Application) => new QueryBudget(clock, settings.QUERY_TIMEOUT_MS);
  readonly storage = ({ options, settings, budget, logger, storeObservers }: Application) => {
    const made = options.makeParts({ tables: TABLES, budget, logger });
    return storageOf(made, observedBy(storeObservers, settings.STORE));
  };
  readonly store = ({ storage }: Application) => storage.store;
  readonly feedState = ({ storage }: Application) => storage.feedState;
  readonly derivedDataBuild = ({ settings, storage: { derived, feedState }, logger, clock }: Application) => {
    const unnumbered = (settings.CHANGES === 'on' && feedState.unnumbered) || [];
    const all = derived && { ...derived, tables: [...derived.tables, ...unnumbered] };
    return new DerivedDataBuild(all, logger, clock, randomUUID());
  };
  readonly rateLimits = (parts: Application) => {
    const { makeRateLimits, isMeasured } = parts.options;
    const limits = makeRateLimits(parts);
    return isMeasured === false ? limits : countedLimits(limits, parts.metrics);
  };

  readonly newApiKey = () => newApiKey;
  readonly credentialCache = ({ clock }: Application) => new CredentialCache(clock);
  readonly apiKeys = ({ resources }: Application) => resources.apiKeys.service;
  readonly apiKeyVerifier = ({ storage: { apiKeys: keys }, clock, logger }: Application) =>
    new ApiKeyVerifier({ keys, clock, logger });
  readonly usageCounter = ({ storage: { usage: store }, clock }: Application) =>
    new UsageCounter({ store, clock, newName: randomUUID });
  readonly publicUrl = ({ settings }: Application) => new PublicUrl(settings);
  readonly tokenSigner = () => new Rs256TokenSigner();
  readonly signingKeys = ({ storage, tokenSigner: signer, clock, logger }: Application) =>
    new SigningKeys({ keys: storage.signingKeys, signer, clock, logger });
  readonly accessTokens = (parts: Application) => {
    const { signingKeys, apiKeyVerifier: apiKeys, tokenSigner: signer, publicUrl, clock } = parts;
    return new AccessTokens({ signingKeys, apiKeys, signer, publicUrl, clock });
  };
  readonly externalIssuer = ({ settings, clock, logger }: Application): ExternalIssuer | undefined => {
    const { OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: audience } = settings;
    if (issuer === '') return undefined;
    const keys = new IssuerKeys({ issuer, fetchKeySet, clock, logger });
    return { issuer, tokens: new ExternalTokenVerifier({ expected: { issuer, audience }, keys, clock }) };
  };
  readonly authenticator = (parts: Application) => {
    const { credentialCache: cache, apiKeyVerifier: apiKeys, accessTokens, rateLimits, clock } = parts;
    const { failures } = rateLimits;
    const external = parts.externalIssuer;
    return new Authenticator({ cache, clock, failures, apiKeys, accessTokens, external, issuerOf });
  };

  readonly webhookTransport = ({ settings }: Application) => new HttpsWebhookTransport(settings.WEBHOOK_NETWORKS);
  readonly deliveries = (parts: Application) => {
    const { storage, webhookTransport: transport, clock, backoff } = parts;
    const { webhookStates: states, apiKeys: keys } = storage;
    const newMessageId = () => `msg_${randomUUID().replaceAll('-', '')}`;
    return new Deliveries({ states, keys, transport, clock, backoff, newMessageId });
  };
  readonly webhookSender = (parts: Application): WebhookSender => {
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
  };

  /** The unread results of imports. The folder keeps the name that it has in existing installations. */
  readonly resultBuffers = ({ settings }: Application) =>
    new ResultBuffers({
      folder: join(settings.DATA_DIR, 'spool'),
      firstByteDelayMs: settings.TLS === 'proxy' ? FIRST_BYTE_DELAY_MS : 0,
    });
  readonly generation = ({ feedState, clock }: Application) => new Generation(feedState, clock);
  readonly resources = (parts: Application) => composeResources(parts);
  /** The ids that each resource has reserved in the store. */
  readonly ids = ({ resources }: Application) => Object.values(resources).map(({ ids }) => ids);
  /** Those who wait for changes. */
  readonly watches = ({ resources }: Application): Partial<Record<ResourceName, ChangeWatch>> =>
    Object.fromEntries(
      RESOURCES.flatMap((name) => {
        const { watch } = resources[name];
        return watch ? [[name, watch]] : [];
      }),
    );
  /** The routes of the built-in token issuer. */
  readonly oauthRoutes = ({ settings, authenticator, accessTokens, signingKeys, publicUrl }: Application) => [
    tokenRoute({ accessTokens, authenticator, bodyLimitBytes: settings.BODY_LIMIT_BYTES }),
    ...metadataRoutes({ publicUrl, signingKeys, otherIssuer: settings.OAUTH_ISSUER }),
  ];
  /** All routes except the probes. */
  readonly routes = (parts: Application): Route[] => [
    ...Object.values(parts.resources).flatMap(({ routes }) => routes),
    ...parts.oauthRoutes,
    openApiRoute(() => parts.openApiDocument),
    ...docsRoutes(),
    ...consoleRoutes(),
    rootRoute(collectionPaths(parts.resources), parts.publicUrl),
  ];
  /** To be used when the service knows its URL. */
  readonly openApiDocument = ({ settings, routes, publicUrl: { url } }: Application): object =>
    openApiDocument(routes, {
      url,
      version: packageVersion(),
      resources: Object.values<ResourceDefinition<never>>(DEFINITIONS as never),
      isProxied: settings.TLS === 'proxy',
      hasHsts: settings.TLS !== 'self-signed',
      hasCors: settings.CORS_ORIGINS !== '',
      requireIfMatch: settings.REQUIRE_IF_MATCH,
    });

  /** Learn of every request. */
  readonly observers = ({ logger, usageCounter, storeObservers }: Application): Observer[] => [
    logger,
    usageCounter,
    ...storeObservers,
  ];
  readonly limits = ({ settings }: Application) => new ConcurrencyLimits(settings.BODY_LIMIT_BYTES);
  readonly transport = ({ settings, clock, logger }: Application) => TRANSPORTS[settings.TLS](settings, clock, logger);
  readonly metricsReport = (parts: Application) => {
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
    const { primary } = parts.options;
    return primary ? new GroupMetrics(metrics, primary, logFailure(logger)) : metrics;
  };
  /** Run while the store is open. */
  readonly jobs = (parts: Application) => serviceJobs(parts);
  /** Creates a folder that only its owner may use. */
  readonly createFolder = () => createFolder;
}

const FACTORIES = new Factories();

/**
 * Composes the program, with the adapters that the settings choose.
 * @param primary in a cluster worker: its channel to the primary, which counts for all workers
 * @param tracing default: no traces
 * @param clock default: the one of the system
 */
export async function compose(
  settings: Settings,
  primary?: Channel,
  tracing: TracingSettings = {},
  clock?: Clock,
): Promise<Application> {
  const makeParts = await STORES[settings.STORE].load(settings);
  const makeRateLimits = await RATE_LIMITERS[settings.RATE_LIMITER]();
  const makeTracing = await loadTracing(tracing);
  return composeWith({ settings, makeParts, makeRateLimits, makeTracing, primary, clock });
}

/**
 * Composes the program as {@link compose} does, with adapters that are loaded already. Only this function knows the
 * container: every part gets its dependencies as arguments. A process may compose several programs, as tests do.
 */
export function composeWith(options: CompositionOptions): Application {
  const container = root.createChildContainer();
  const application = { options } as Application;
  for (const [name, make] of Object.entries(FACTORIES)) {
    container.register(name, { useFactory: instanceCachingFactory<unknown>(() => make(application)) });
    Object.defineProperty(application, name, { enumerable: true, get: () => container.resolve(name) });
  }
  return application;
}

/** Composes the parts of a cluster's primary, which serves nothing itself and opens no store. */
export function composePrimary(settings: Settings) {
  const logger = standardErrorLogger(settings);
  return {
    logger,
    rateLimits: rateLimitServer(settings, new SystemClock()),
    /** Puts the metrics of all workers together. */
    metrics: new MetricsServer({
      own: new ProcessMetrics(),
      merger: new PrometheusMerger(),
      onError: logFailure(logger),
    }),
  };
}

function standardErrorLogger({ LOG_LEVEL, LOG_FORMAT }: Settings): PinoLogger {
  return new PinoLogger(LOG_LEVEL, standardErrorLog(LOG_FORMAT));
}

function logFailure(logger: Logger): (error: unknown) => void {
  return (error) => logger.error('the metrics could not be collected', { error });
}

/** Loads OpenTelemetry if the settings ask for traces. */
async function loadTracing({ protocol, problem }: TracingSettings): Promise<MakeTracing> {
  if (protocol === undefined) {
    return (logger) => {
      if (problem !== undefined) logger.warn('traces are off', { reason: problem });
      return undefined;
    };
  }
  const { EXPORTERS, Tracing } = await import('../adapters/outbound/opentelemetry/tracing.js');
  const makeExporter = await EXPORTERS[protocol]();
  return (logger) => new Tracing({ makeExporter, version: packageVersion(), logger });
}

/** Returns the error of a setting for a store or a certificate that cannot be used as it is configured. */
export function asSettingsError(error: unknown): unknown {
  if (error instanceof StoreConfigError) return new SettingsError(error.message.split('\n'));
  return error instanceof CertificateError ? new SettingsError([error.message]) : error;
}
