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
  /** Absent if no webhook is sent. */
  readonly webhooks: { readonly lagMs: number } | undefined;
  /** Absent if a proxy has it. */
  readonly certificate: { readonly expiry: Instant | undefined } | undefined;
}

const COUNTED_WORK = ['imports', 'dry runs', 'exports', 'waits'] as const;
const WORK_IN_BYTES = ['bodies', 'import batches', 'responses'] as const;
type LimitedResource = (typeof COUNTED_WORK | typeof WORK_IN_BYTES)[number];

/** Adds the metrics that are read from parts of the service at every scrape. */
export function collectServiceMetrics(metrics: PrometheusMetrics, sources: MetricSources): void {
  const { build, clock, limits, feedState, webhooks, certificate } = sources;
  const labels = { ...build, nodejs_version: process.versions.node };
  metrics.collect('build_info', () => [{ labels, value: 1 }]);
  // Without those that only wait: a rule that adds processes by this figure would add them for nothing.
  metrics.collect('http_server_active_requests', () => [
    { labels: {}, value: metrics.activeRequests - limits.figures('waits').inUse },
  ]);
  collectWork(metrics, sources);
  collectPools(metrics, sources);
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
  collectDisk(metrics, sources);
  metrics.collect('tls_certificate_expires_in_seconds', () => {
    const expiry = certificate?.expiry;
    return expiry === undefined ? [] : [{ labels: {}, value: Math.round((expiry - clock.now()) / 1_000) }];
  });
  if (webhooks) metrics.collect('webhook_lag_seconds', () => [{ labels: {}, value: webhooks.lagMs / 1_000 }]);
}

function collectWork(metrics: PrometheusMetrics, { limits }: MetricSources): void {
  const read = (works: readonly LimitedResource[], figure: keyof SemaphoreFigures) => () =>
    works.map((work) => ({ labels: { work }, value: limits.figures(work)[figure] }));
  const all = [...COUNTED_WORK, ...WORK_IN_BYTES];
  metrics.collect('work_in_progress', read(COUNTED_WORK, 'inUse'));
  metrics.collect('work_in_progress_bytes', read(WORK_IN_BYTES, 'inUse'));
  metrics.collect('work_waiting', read(all, 'waiting'));
  metrics.collect('work_refused_total', read(all, 'refused'));
}

function collectPools(metrics: PrometheusMetrics, { store }: MetricSources): void {
  const pools = () => store.pools?.() ?? [];
  const read = (figure: Exclude<keyof PoolFigures, 'pool'>) => () =>
    pools().flatMap(({ pool, [figure]: value }) =>
      value === undefined ? [] : [{ labels: { db_client_connection_pool_name: pool }, value }],
    );
  metrics.collect('db_client_connection_count', () =>
    pools().flatMap(({ pool: db_client_connection_pool_name, ...figures }) =>
      (['used', 'idle'] as const).map((db_client_connection_state) => ({
        labels: { db_client_connection_pool_name, db_client_connection_state },
        value: figures[db_client_connection_state],
      })),
    ),
  );
  metrics.collect('db_client_connection_max', read('max'));
  metrics.collect('db_client_connection_pending_requests', read('waiting'));
  metrics.collect('db_client_connection_timeouts_total', read('timeouts'));
}

function collectDisk(metrics: PrometheusMetrics, { dataDir }: MetricSources): void {
  const read = (blocks: 'bavail' | 'blocks') => async () => {
    // Absent if the folder is gone: the other metrics are needed all the more.
    const figures = await statfs(dataDir).catch(() => undefined);
    return figures ? [{ labels: {}, value: figures[blocks] * figures.bsize }] : [];
  };
  metrics.collect('data_dir_available_bytes', read('bavail'));
  metrics.collect('data_dir_size_bytes', read('blocks'));
}
