import type { Route } from '../adapters/inbound/http/core/route.js';
import { createManagementApp, type MetricsReport } from '../adapters/inbound/http/pipeline/app.js';
import { createPlainServer, Drain } from '../adapters/inbound/http/server/server.js';
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
