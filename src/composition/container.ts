import type { Channel } from '../adapters/outbound/cluster/messages.js';
import type { MetricsServer } from '../adapters/outbound/cluster/metrics.js';
import type { RateLimitServer } from '../adapters/outbound/cluster/rate-limit-server.js';
import { PinoLogger } from '../adapters/outbound/pino/logger.js';
import { standardErrorLog } from '../adapters/outbound/pino/terminal-log.js';
import { PrometheusMetrics } from '../adapters/outbound/prometheus/metrics.js';
import { RandomBackoff } from '../adapters/outbound/system/backoff.js';
import { SystemClock } from '../adapters/outbound/system/clock.js';
import { QueryBudget } from '../application/maintenance/query-budget.js';
import type { Clock } from '../application/ports/clock.js';
import type { Settings } from '../config/settings.js';
import type { TracingSettings } from '../config/tracing-settings.js';
import * as t from './injection-tokens.js';
import { metricsServer } from './management.js';
import { observedStorage } from './observed-storage.js';
import { countedLimits, type MakeRateLimits, RATE_LIMITERS, rateLimitServer } from './rate-limits.js';
import { createContainer, type DependencyContainer, register } from './register.js';
import { registerAuth } from './register-auth.js';
import { registerRoutes } from './register-routes.js';
import { registerService } from './register-service.js';
import { asSettingsError, type Service } from './service.js';
import { type MakeStorage, STORES } from './stores.js';
import { loadTracer, type MakeTracing } from './tracing.js';

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
 * Composes the program. Only this file and the `register…` functions know the container: every part gets its
 * dependencies as arguments.
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
  const makeStorage = await STORES[settings.STORE]();
  const makeRateLimits = await RATE_LIMITERS[settings.RATE_LIMITER]();
  const makeTracing = await loadTracer(tracing);
  return composeWith({ settings, makeStorage, makeRateLimits, makeTracing, primary, clock });
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
  /** Default: the one of the system. */
  readonly clock?: Clock | undefined;
}

/** Composes the program as {@link compose} does, with a storage and rate limiters that are loaded already. */
export function composeWith(choices: Choices): Application {
  const { settings, makeStorage, makeRateLimits, makeTracing, primary, isMeasured = true } = choices;
  const { clock = new SystemClock() } = choices;
  const container = createContainer();
  registerSystem(container, settings, clock);
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
  registerRoutes(container, settings);
  registerService(container, { settings, primary, tracing, isMeasured });
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

function registerSystem(container: DependencyContainer, settings: Settings, clock: Clock): void {
  register(container, t.CLOCK, () => clock);
  register(container, t.BACKOFF, () => new RandomBackoff());
  register(container, t.LOGGER, () => standardErrorLogger(settings));
  register(container, t.METRICS, (c) => new PrometheusMetrics(c.resolve(t.CLOCK)));
}
