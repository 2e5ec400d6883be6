import { createManagementApp } from '../adapters/inbound/http/management-app.js';
import type { Route } from '../adapters/inbound/http/route.js';
import { Drain } from '../adapters/inbound/http/server/graceful-shutdown.js';
import { createPlainServer } from '../adapters/inbound/http/server/server.js';
import { listen } from './listen.js';
import * as t from './tokens.js';
import type { Get } from './typed-token.js';

/** A probe or a scrape that is under way at the end gets so long. */
const GRACE_MS = 1_000;

/** The management port: plain HTTP for those who run the service. */
export class Management {
  private drain: Drain | undefined;

  constructor(private readonly get: Get) {}

  /** @returns the port */
  async start(healthEndpoints: readonly Route[]): Promise<number> {
    const { MANAGEMENT_HOST: host, MANAGEMENT_PORT } = this.get(t.SETTINGS);
    const journal = this.get(t.JOURNAL);
    const app = createManagementApp({
      routes: healthEndpoints,
      metrics: this.get(t.METRICS),
      journal,
      isDraining: () => this.drain?.isDraining ?? false,
    });
    const server = createPlainServer(app.callback());
    this.drain = new Drain(server);
    const port = await listen(server, host, MANAGEMENT_PORT);
    journal.info('management listening', { host, port });
    return port;
  }

  async stop(): Promise<void> {
    await this.drain?.drain(GRACE_MS);
  }
}
