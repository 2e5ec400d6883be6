import { ConcurrencyLimits } from '../adapters/inbound/http/core/concurrency-limits.js';
import type { Channel } from '../adapters/outbound/cluster/messages.js';
import type { Tracing } from '../adapters/outbound/opentelemetry/tracing.js';
import { Retention } from '../application/maintenance/retention.js';
import { SearchIndexing } from '../application/maintenance/search-indexing.js';
import type { Settings } from '../config/settings.js';
import * as t from './injection-tokens.js';
import { groupMetrics, Management } from './management.js';
import { collectMetrics } from './metric-sources.js';
import { PeriodicJob, type PeriodicJobOptions } from './periodic-job.js';
import { type DependencyContainer, register } from './register.js';
import { Service } from './service.js';
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

/** Indexes the words of records that an earlier release wrote, at the start and while such a release still runs. */
const INDEX_WORDS: PeriodicJobOptions = {
  firstMs: 0,
  intervalMs: 60_000,
  failure: 'the words of records could not be indexed; the next run tries again',
};

export interface ServiceChoices {
  readonly settings: Settings;
  /** In a cluster worker: its channel to the primary. */
  readonly primary: Channel | undefined;
  /** Undefined: no traces are recorded. */
  readonly tracing: Tracing | undefined;
  /** Whether requests are counted. */
  readonly isMeasured: boolean;
}

/** Registers the service with its jobs and its management port. */
export function registerService(
  container: DependencyContainer,
  { settings, primary, tracing, isMeasured }: ServiceChoices,
): void {
  register(container, t.SERVICE_PARTS, (c) => {
    const [clock, logger, storage] = [c.resolve(t.CLOCK), c.resolve(t.LOGGER), c.resolve(t.STORAGE)];
    const metrics = c.resolve(t.METRICS);
    const limits = new ConcurrencyLimits(settings.BODY_LIMIT_BYTES);
    const transport = TRANSPORTS[settings.TLS](settings, clock, logger);
    collectMetrics(metrics, { settings, clock, store: storage.store, transport, limits });
    const retention = new Retention(storage.purgeable, clock);
    const indexing = new SearchIndexing(storage.searchIndexes, logger);
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
        new PeriodicJob((isOver) => indexing.run(isOver), logger, INDEX_WORDS),
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
