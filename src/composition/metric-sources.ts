import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { ConcurrencyLimits, LimitedResource } from '../adapters/inbound/http/core/concurrency-limits.js';
import type { PrometheusMetrics } from '../adapters/outbound/prometheus/metrics.js';
import type { Clock } from '../application/ports/clock.js';
import type { PoolFigures, Store } from '../application/ports/store.js';
import type { Settings } from '../config/settings.js';
import { packageVersion } from '../config/version.js';
import type { SemaphoreFigures } from '../shared/fair-semaphore.js';
import type { Transport } from './transports.js';

export interface MetricSources {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly store: Store;
  readonly transport: Transport;
  readonly limits: ConcurrencyLimits;
}

const COUNTED_WORK: readonly LimitedResource[] = ['imports', 'exports'];
const WORK_IN_BYTES: readonly LimitedResource[] = ['bodies', 'responses'];

/** Adds the metrics that are read from parts of the service at every scrape. */
export function collectMetrics(metrics: PrometheusMetrics, sources: MetricSources): void {
  collectBuild(metrics, sources);
  collectWork(metrics, sources);
  collectPools(metrics, sources);
  collectDisk(metrics, sources);
  collectCertificate(metrics, sources);
}

function collectBuild(metrics: PrometheusMetrics, { settings }: MetricSources): void {
  const labels = {
    version: packageVersion(),
    nodejs_version: process.versions.node,
    store: settings.STORE,
    rate_limiter: settings.RATE_LIMITER,
  };
  metrics.collect('build_info', () => [{ labels, value: 1 }]);
}

function collectWork(metrics: PrometheusMetrics, { limits }: MetricSources): void {
  const read = (works: readonly LimitedResource[], pick: (figures: SemaphoreFigures) => number) => () =>
    works.map((work) => ({ labels: { work }, value: pick(limits.figures(work)) }));
  const all = [...COUNTED_WORK, ...WORK_IN_BYTES];
  metrics.collect(
    'work_in_progress',
    read(COUNTED_WORK, ({ inUse }) => inUse),
  );
  metrics.collect(
    'work_in_progress_bytes',
    read(WORK_IN_BYTES, ({ inUse }) => inUse),
  );
  metrics.collect(
    'work_waiting',
    read(all, ({ waiting }) => waiting),
  );
  metrics.collect(
    'work_refused_total',
    read(all, ({ refused }) => refused),
  );
}

function collectPools(metrics: PrometheusMetrics, { store }: MetricSources): void {
  const pools = () => store.pools?.() ?? [];
  const read = (pick: (figures: PoolFigures) => number | undefined) => () =>
    pools().flatMap((figures) => {
      const value = pick(figures);
      return value === undefined ? [] : [{ labels: { db_client_connection_pool_name: figures.pool }, value }];
    });
  metrics.collect('db_client_connection_count', () =>
    pools().flatMap(({ pool, used, idle }) => [
      { labels: { db_client_connection_pool_name: pool, db_client_connection_state: 'used' }, value: used },
      { labels: { db_client_connection_pool_name: pool, db_client_connection_state: 'idle' }, value: idle },
    ]),
  );
  metrics.collect(
    'db_client_connection_max',
    read(({ max }) => max),
  );
  metrics.collect(
    'db_client_connection_pending_requests',
    read(({ waiting }) => waiting),
  );
  metrics.collect(
    'db_client_connection_timeouts_total',
    read(({ timeouts }) => timeouts),
  );
}

function collectDisk(metrics: PrometheusMetrics, { settings }: MetricSources): void {
  const read = (pick: (figures: StatsFs) => number) => async () => {
    // Absent if the folder is gone: the other metrics are needed all the more.
    const figures = await statfs(settings.DATA_DIR).catch(() => undefined);
    return figures ? [{ labels: {}, value: pick(figures) }] : [];
  };
  metrics.collect(
    'data_dir_available_bytes',
    read(({ bavail, bsize }) => bavail * bsize),
  );
  metrics.collect(
    'data_dir_size_bytes',
    read(({ blocks, bsize }) => blocks * bsize),
  );
}

function collectCertificate(metrics: PrometheusMetrics, { clock, transport }: MetricSources): void {
  metrics.collect('tls_certificate_expires_in_seconds', () => {
    const expiry = transport.certificateExpiry();
    return expiry === undefined ? [] : [{ labels: {}, value: Math.round((expiry - clock.now()) / 1_000) }];
  });
}
