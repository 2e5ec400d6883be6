import type { Route } from '../adapters/inbound/http/core/route.js';
import { createManagementApp, type MetricsReport } from '../adapters/inbound/http/pipeline/management-app.js';
import { Drain } from '../adapters/inbound/http/server/graceful-shutdown.js';
import { createPlainServer } from '../adapters/inbound/http/server/server.js';
import type { Channel } from '../adapters/outbound/cluster/messages.js';
import { GroupMetrics, MetricsServer } from '../adapters/outbound/cluster/metrics.js';
import { ProcessMetrics, PrometheusMerger } from '../adapters/outbound/prometheus/merger.js';
import type { PrometheusMetrics } from '../adapters/outbound/prometheus/metrics.js';
import type { Logger } from '../application/ports/logger.js';
import { listen, logErrors } from './listen.js';

const SETTINGS = { host: 'MANAGEMENT_HOST', port: 'MANAGEMENT_PORT' } as const;

/** How long a running probe or scrape may take at shutdown. */
const GRACE_MS = 1_000;

export interface ManagementParts {
  readonly host: string;
  readonly port: number;
  readonly metrics: MetricsReport;
  readonly logger: Logger;
}

/** The management port: plain HTTP for probes and Prometheus. */
export class Management {
  private drain: Drain | undefined;

  constructor(private readonly parts: ManagementParts) {}

  /**
   * @returns the port
   * @throws like {@link listen}
   */
  async start(probes: readonly Route[]): Promise<number> {
    const { host, metrics, logger } = this.parts;
    const listener = createManagementApp({
      routes: probes,
      metrics,
      logger,
      isDraining: () => this.drain?.isDraining ?? false,
    });
    const server = createPlainServer(listener);
    this.drain = new Drain(server);
    const port = await listen(server, host, this.parts.port, SETTINGS, (other) => this.drain?.add(other));
    logErrors(server, logger);
    logger.info('management listening', { host, port });
    return port;
  }

  async stop(): Promise<void> {
    await this.drain?.drain(GRACE_MS);
  }
}

/** In a cluster worker: the metrics of all workers. */
export function groupMetrics(own: PrometheusMetrics, primary: Channel, logger: Logger): MetricsReport {
  return new GroupMetrics(own, primary, logFailure(logger));
}

/** In the primary: puts the metrics of all workers together. */
export function metricsServer(logger: Logger): MetricsServer {
  return new MetricsServer({
    own: new ProcessMetrics(),
    merger: new PrometheusMerger(),
    onError: logFailure(logger),
  });
}

function logFailure(logger: Logger): (error: unknown) => void {
  return (error) => logger.error('the metrics could not be collected', { error });
}
