import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { FeedState } from '../../../application/ports/change-feed.js';
import type { Clock } from '../../../application/ports/clock.js';
import type { PoolFigures, Store } from '../../../application/ports/store.js';
import type { Instant } from '../../../domain/record.js';
import type { SemaphoreFigures } from '../../../shared/fair-semaphore.js';
import type { PrometheusMetrics } from './metrics.js';

export interface MetricSources {
  readonly build: { readonly version: string; readonly store: string; readonly rate_limiter: string };
  readonly clock: Pick<Clock, 'now'>;
  readonly store: Store;
  readonly feedState: FeedState;
  readonly limits: { figures(work: LimitedResource): SemaphoreFigures };
  readonly dataDir: string;
  /** Absent if a proxy has it. */
  readonly certificate: { readonly expiry: Instant | undefined } | undefined;
}

const COUNTED_WORK = ['imports', 'dry runs', 'exports', 'waits'] as const;
const WORK_IN_BYTES = ['bodies', 'import batches', 'responses'] as const;
type LimitedResource = (typeof COUNTED_WORK | typeof WORK_IN_BYTES)[number];

/** Adds the metrics that are read from parts of the service at every scrape. */
export function collectServiceMetrics(metrics: PrometheusMetrics, sources: MetricSources): void {
  collectBuild(metrics, sources);
  collectWork(metrics, sources);
  collectPools(metrics, sources);
  collectChanges(metrics, sources);
  collectDisk(metrics, sources);
  collectCertificate(metrics, sources);
}

function collectBuild(metrics: PrometheusMetrics, { build }: MetricSources): void {
  const { version, ...adapters } = build;
  const labels = { version, nodejs_version: process.versions.node, ...adapters };
  metrics.collect('build_info', () => [{ labels, value: 1 }]);
}

function collectWork(metrics: PrometheusMetrics, { limits }: MetricSources): void {
  const read = (works: readonly LimitedResource[], pick: (figures: SemaphoreFigures) => number) => () =>
    works.map((work) => ({ labels: { work }, value: pick(limits.figures(work)) }));
  const all = [...COUNTED_WORK, ...WORK_IN_BYTES];
  // Without those that only wait: whoever adds processes by this figure would add them for nothing.
  metrics.collect('http_server_active_requests', () =>
    metrics.requests
      .activeRequests()
      .map(({ labels, value }) => ({ labels, value: value - limits.figures('waits').inUse })),
  );
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

function collectChanges(metrics: PrometheusMetrics, { clock, feedState }: MetricSources): void {
  metrics.collect('changes_delay_seconds', async () => {
    try {
      if (!feedState.oldestHidden) return [];
      const oldest = (await feedState.oldestHidden()) ?? clock.now();
      return [{ labels: {}, value: Math.max(0, clock.now() - oldest) / 1_000 }];
    } catch {
      // Absent while the store does not respond.
      return [];
    }
  });
}

function collectDisk(metrics: PrometheusMetrics, { dataDir }: MetricSources): void {
  const read = (pick: (figures: StatsFs) => number) => async () => {
    // Absent if the folder is gone: the other metrics are needed all the more.
    const figures = await statfs(dataDir).catch(() => undefined);
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

function collectCertificate(metrics: PrometheusMetrics, { clock, certificate }: MetricSources): void {
  metrics.collect('tls_certificate_expires_in_seconds', () => {
    const expiry = certificate?.expiry;
    return expiry === undefined ? [] : [{ labels: {}, value: Math.round((expiry - clock.now()) / 1_000) }];
  });
}
