import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  type DependencyContainer,
  type InjectionToken,
  instanceCachingFactory,
  container as root,
} from 'tsyringe';
import { docsRoutes } from '../adapters/inbound/http/docs/docs-routes.js';
import { ResultBuffers } from '../adapters/inbound/http/import/result-buffer.js';
import { openApiRoute } from '../adapters/inbound/http/openapi/openapi-route.js';
import { rootRoute } from '../adapters/inbound/http/root-route.js';
import { WorkLimits } from '../adapters/inbound/http/work-limits.js';
import type { Channel } from '../adapters/outbound/cluster/messages.js';
import type { MetricsServer } from '../adapters/outbound/cluster/metrics.js';
import type { RateLimitServer } from '../adapters/outbound/cluster/rate-limit-server.js';
import type { Tracing } from '../adapters/outbound/opentelemetry/tracing.js';
import { PinoLogger } from '../adapters/outbound/pino/logger.js';
import { standardErrorLog } from '../adapters/outbound/pino/terminal-log.js';
import { PrometheusMetrics } from '../adapters/outbound/prometheus/metrics.js';
import { RandomBackoff } from '../adapters/outbound/system/backoff.js';
import { SystemClock } from '../adapters/outbound/system/clock.js';
import { ChecksummedApiKey } from '../adapters/outbound/tokens/api-key-format.js';
import { Rs256TokenSigner } from '../adapters/outbound/tokens/rs256-key.js';
import { AccessTokenVerifier } from '../application/auth/access-token-verifier.js';
import { ApiKeyVerifier } from '../application/auth/api-key-verifier.js';
import { CredentialCache } from '../application/auth/credential-cache.js';
import { KeyAdministration } from '../application/auth/key-administration.js';
import { SigningKeyAdministration } from '../application/auth/signing-key-administration.js';
import { SigningKeys } from '../application/auth/signing-keys.js';
import { UsageCounter } from '../application/auth/usage-counter.js';
import { QueryBudget } from '../application/maintenance/query-budget.js';
import { Retention } from '../application/maintenance/retention.js';
import type { Settings } from '../config/settings.js';
import type { TracingSettings } from '../config/tracing-settings.js';
import { composeAuthenticator, oauthRoutes } from './auth.js';
import * as t from './injection-tokens.js';
import { groupMetrics, Management, metricsServer } from './management.js';
import { collectMetrics } from './metric-sources.js';
import { observedStorage } from './observed-storage.js';
import { describedService } from './openapi.js';
import { PeriodicJob, type PeriodicJobOptions } from './periodic-job.js';
import { ServiceUrl } from './public-url.js';
import { countedLimits, type MakeRateLimits, RATE_LIMITERS, rateLimitServer } from './rate-limits.js';
import { COLLECTION_PATHS, composeResources } from './resources.js';
import { asSettingsError, Service } from './service.js';
import { type MakeStorage, STORES } from './stores.js';
import { loadTracer, type MakeTracing } from './tracing.js';
import { TRANSPORTS } from './transports.js';

/** Purges expired reservations, tombstones and usage. */
const PURGE: PeriodicJobOptions = {
  firstMs: 60_000,
  intervalMs: 10 * 60_000,
  failure: 'expired entries could not be purged; the next run tries again',
};

/** Saves the usage of API keys. A process that crashes loses the requests since the last run. */
const SAVE_USAGE: PeriodicJobOptions = {
  firstMs: 10_000,
  intervalMs: 10_000,
  runsAtStop: true,
  failure: 'the usage of API keys could not be saved; the next run tries again',
};

/** The composed program. Each part is created at its first use. */
export class Application {
  constructor(private readonly container: DependencyContainer) {}

  get service() {
    return this.container.resolve(t.SERVICE);
  }

  /** The parts of {@link service}. */
  get serviceParts() {
    return this.container.resolve(t.SERVICE_PARTS);
  }

  get storage() {
    return this.container.resolve(t.STORAGE);
  }

  get logger() {
    return this.container.resolve(t.LOGGER);
  }

  get clock() {
    return this.container.resolve(t.CLOCK);
  }

  get resources() {
    return this.container.resolve(t.RESOURCES);
  }

  get keyAdministration() {
    return this.container.resolve(t.KEY_ADMINISTRATION);
  }

  get signingKeyAdministration() {
    return this.container.resolve(t.SIGNING_KEY_ADMINISTRATION);
  }

  get usageCounter() {
    return this.container.resolve(t.USAGE_COUNTER);
  }

  get openApiDocument() {
    return this.container.resolve(t.OPENAPI_DOCUMENT);
  }
}

/**
 * Composes the program: this file names the adapter of every port. The container stays in this file: every part gets
 * its dependencies as arguments.
 * @param primary in a cluster worker: its channel to the primary, which counts for all workers
 * @param tracing default: no traces
 */
export async function compose(
  settings: Settings,
  primary?: Channel,
  tracing: TracingSettings = {},
): Promise<Application> {
  const makeStorage = await STORES[settings.STORE]();
  const makeRateLimits = await RATE_LIMITERS[settings.RATE_LIMITER]();
  const makeTracing = await loadTracer(tracing);
  return composeWith({ settings, makeStorage, makeRateLimits, makeTracing, primary });
}

export interface Choices {
  readonly settings: Settings;
  readonly makeStorage: MakeStorage;
  readonly makeRateLimits: MakeRateLimits;
  /** Absent: no traces. */
  readonly makeTracing?: MakeTracing;
  readonly primary?: Channel | undefined;
  /** Default: true. False only to find out what the metrics cost: requests and calls of the store are not counted. */
  readonly isMeasured?: boolean;
}

/** Composes the program as {@link compose} does, with a storage and rate limiters that are loaded already. */
export function composeWith(choices: Choices): Application {
  const { settings, makeStorage, makeRateLimits, makeTracing, primary, isMeasured = true } = choices;
  const container = root.createChildContainer();
  registerSystem(container, settings);
  const tracing = makeTracing?.(container.resolve(t.LOGGER));
  register(container, t.STORE_OBSERVERS, (c) => [
    ...(isMeasured ? [c.resolve(t.METRICS).store] : []),
    ...(tracing ? [tracing] : []),
  ]);
  register(container, t.STORAGE, (c) => {
    const budget = new QueryBudget(c.resolve(t.CLOCK), settings.QUERY_TIMEOUT_MS);
    const storage = makeStorage(settings, { budget, logger: c.resolve(t.LOGGER) });
    return observedStorage(storage, settings.STORE, c.resolve(t.STORE_OBSERVERS));
  });
  register(container, t.RATE_LIMITS, (c) => {
    const [clock, metrics, logger] = [c.resolve(t.CLOCK), c.resolve(t.METRICS), c.resolve(t.LOGGER)];
    const observers = c.resolve(t.STORE_OBSERVERS);
    const limits = makeRateLimits({ settings, clock, metrics, logger, primary, observers });
    return isMeasured ? countedLimits(limits, metrics) : limits;
  });
  registerAuth(container, settings);
  registerResources(container, settings);
  registerService(container, choices, tracing);
  return new Application(container);
}

/**
 * @param primary see {@link compose}
 * @throws SettingsError
 */
export async function createService(
  settings: Settings,
  primary?: Channel,
  tracing?: TracingSettings,
): Promise<Service> {
  const application = await compose(settings, primary, tracing);
  try {
    return application.service;
  } catch (error) {
    throw asSettingsError(error);
  }
}

/** The parts of a cluster's primary, which serves nothing itself and opens no store. */
export interface Primary {
  readonly logger: PinoLogger;
  readonly rateLimits: RateLimitServer;
  readonly metrics: MetricsServer;
}

export function composePrimary(settings: Settings): Primary {
  const rateLimits = rateLimitServer(settings, new SystemClock());
  const logger = standardErrorLogger(settings);
  return { logger, rateLimits, metrics: metricsServer(logger) };
}

function standardErrorLogger({ LOG_LEVEL, LOG_FORMAT }: Settings): PinoLogger {
  return new PinoLogger(LOG_LEVEL, standardErrorLog(LOG_FORMAT));
}

/** Registers a part that is created once, when it is first resolved. */
function register<Part>(
  container: DependencyContainer,
  token: InjectionToken<Part>,
  make: (c: DependencyContainer) => NoInfer<Part>,
): void {
  container.register<Part>(token, { useFactory: instanceCachingFactory<Part>(make) });
}

function registerSystem(container: DependencyContainer, settings: Settings): void {
  register(container, t.CLOCK, () => new SystemClock());
  register(container, t.BACKOFF, () => new RandomBackoff());
  register(container, t.LOGGER, () => standardErrorLogger(settings));
  register(container, t.METRICS, (c) => new PrometheusMetrics(c.resolve(t.CLOCK)));
}

function registerAuth(container: DependencyContainer, settings: Settings): void {
  register(container, t.KEY_FORMAT, () => new ChecksummedApiKey());
  register(container, t.CREDENTIAL_CACHE, (c) => new CredentialCache(c.resolve(t.CLOCK)));
  register(container, t.KEY_ADMINISTRATION, (c) => {
    return new KeyAdministration({
      service: c.resolve(t.RESOURCES).apiKeys.service,
      keys: c.resolve(t.STORAGE).apiKeys,
      format: c.resolve(t.KEY_FORMAT),
      clock: c.resolve(t.CLOCK),
    });
  });
  register(container, t.USAGE_COUNTER, (c) => {
    const [store, clock] = [c.resolve(t.STORAGE).usage, c.resolve(t.CLOCK)];
    return new UsageCounter({ store, clock, newName: randomUUID });
  });
  register(container, t.PUBLIC_URL, () => new ServiceUrl(settings));
  register(container, t.TOKEN_SIGNER, () => new Rs256TokenSigner());
  register(container, t.SIGNING_KEY_ADMINISTRATION, (c) => {
    return new SigningKeyAdministration({
      keys: c.resolve(t.STORAGE).signingKeys,
      signer: c.resolve(t.TOKEN_SIGNER),
      clock: c.resolve(t.CLOCK),
    });
  });
  register(container, t.SIGNING_KEYS, (c) => {
    return new SigningKeys({
      administration: c.resolve(t.SIGNING_KEY_ADMINISTRATION),
      signer: c.resolve(t.TOKEN_SIGNER),
      clock: c.resolve(t.CLOCK),
    });
  });
  register(container, t.AUTHENTICATOR, (c) => {
    const [format, clock, logger] = [c.resolve(t.KEY_FORMAT), c.resolve(t.CLOCK), c.resolve(t.LOGGER)];
    return composeAuthenticator({
      settings,
      clock,
      logger,
      format,
      cache: c.resolve(t.CREDENTIAL_CACHE),
      failures: c.resolve(t.RATE_LIMITS).failures,
      apiKeys: new ApiKeyVerifier({ keys: c.resolve(t.STORAGE).apiKeys, format, clock, logger }),
      accessTokens: new AccessTokenVerifier({
        keys: c.resolve(t.SIGNING_KEYS),
        publicUrl: c.resolve(t.PUBLIC_URL),
        signer: c.resolve(t.TOKEN_SIGNER),
        clock,
      }),
    });
  });
  register(container, t.OAUTH_ROUTES, (c) => {
    return oauthRoutes({
      settings,
      authenticator: c.resolve(t.AUTHENTICATOR),
      signingKeys: c.resolve(t.SIGNING_KEYS),
      publicUrl: c.resolve(t.PUBLIC_URL),
      clock: c.resolve(t.CLOCK),
    });
  });
}

function registerResources(container: DependencyContainer, settings: Settings): void {
  register(container, t.RESOURCES, (c) => {
    return composeResources({
      settings,
      storage: c.resolve(t.STORAGE),
      clock: c.resolve(t.CLOCK),
      backoff: c.resolve(t.BACKOFF),
      format: c.resolve(t.KEY_FORMAT),
      credentials: c.resolve(t.CREDENTIAL_CACHE),
      imports: {
        resultBuffers: new ResultBuffers({ folder: join(settings.DATA_DIR, 'spool') }),
        logger: c.resolve(t.LOGGER),
      },
    });
  });
  register(container, t.ROUTES, (c) => [
    ...Object.values(c.resolve(t.RESOURCES)).flatMap(({ routes }) => routes),
    ...c.resolve(t.OAUTH_ROUTES),
    openApiRoute(() => c.resolve(t.OPENAPI_DOCUMENT)),
    ...docsRoutes(),
    rootRoute(COLLECTION_PATHS),
  ]);
  register(container, t.OPENAPI_DOCUMENT, (c) =>
    describedService({
      settings,
      routes: c.resolve(t.ROUTES),
      store: c.resolve(t.STORAGE).store,
      url: c.resolve(t.PUBLIC_URL).url,
    }),
  );
}

function registerService(
  container: DependencyContainer,
  { settings, primary, isMeasured = true }: Choices,
  tracing?: Tracing,
): void {
  register(container, t.SERVICE_PARTS, (c) => {
    const [clock, logger, storage] = [c.resolve(t.CLOCK), c.resolve(t.LOGGER), c.resolve(t.STORAGE)];
    const metrics = c.resolve(t.METRICS);
    const limits = new WorkLimits(settings.BODY_LIMIT_BYTES);
    const transport = TRANSPORTS[settings.TLS](settings, clock, logger);
    collectMetrics(metrics, { settings, clock, store: storage.store, transport, limits });
    const retention = new Retention(storage.purgeable, clock);
    const usageCounter = c.resolve(t.USAGE_COUNTER);
    return {
      settings,
      observers: [logger, usageCounter, ...(isMeasured ? [metrics.requests] : [])],
      tracing,
      logger,
      clock,
      store: storage.store,
      jobs: [
        new PeriodicJob((isOver) => retention.purgeExpired(isOver), logger, PURGE),
        new PeriodicJob(() => usageCounter.save(), logger, SAVE_USAGE),
      ],
      rateLimits: c.resolve(t.RATE_LIMITS),
      authenticator: c.resolve(t.AUTHENTICATOR),
      keyFormat: c.resolve(t.KEY_FORMAT),
      keyAdministration: c.resolve(t.KEY_ADMINISTRATION),
      publicUrl: c.resolve(t.PUBLIC_URL),
      routes: c.resolve(t.ROUTES),
      transport,
      limits,
      management: new Management({
        host: settings.MANAGEMENT_HOST,
        port: settings.MANAGEMENT_PORT,
        metrics: primary ? groupMetrics(metrics, primary, logger) : metrics,
        logger,
      }),
      ids: Object.values(c.resolve(t.RESOURCES)).map(({ ids }) => ids),
    };
  });
  register(container, t.SERVICE, (c) => new Service(c.resolve(t.SERVICE_PARTS)));
}
