import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from '../adapters/inbound/http/app.js';
import { healthEndpoints } from '../adapters/inbound/http/health-routes.js';
import { shareAcrossOrigins } from '../adapters/inbound/http/middleware/cors.js';
import { metadataUrl } from '../adapters/inbound/http/oauth/metadata-routes.js';
import type { Route } from '../adapters/inbound/http/route.js';
import { Drain } from '../adapters/inbound/http/server/graceful-shutdown.js';
import { WorkBounds } from '../adapters/inbound/http/work-bounds.js';
import type { Line } from '../adapters/outbound/cluster/rate-messages.js';
import { UnusableStore } from '../application/ports/store.js';
import { type Settings, SettingsError } from '../config/settings.js';
import { CatalogueError } from '../domain/errors.js';
import { compose } from './container.js';
import { publicEndpoints, servedEndpoints } from './endpoints.js';
import { listen } from './listen.js';
import { Management } from './management.js';
import * as t from './tokens.js';
import type { Get } from './typed-token.js';

const STORE_RETRY_MS = 500;

/** The store could not be opened in time. */
export class StoreTimeout extends Error {}

export interface Started {
  readonly port: number;
  readonly managementPort: number;
  readonly storeLocation: string;
  /** What a client is to trust, where that is no public authority. */
  readonly authorityFile: string | undefined;
  /** The store's first key, where this start made it and it was not given. */
  readonly firstKey: string | undefined;
}

/** One running service: a server over a store, and its management port. Starts once and stops once. */
export class Service {
  private readonly get: Get;
  private readonly stopping = new AbortController();
  private drain: Drain | undefined;
  private readonly management: Management;

  /**
   * @param primary where this process is one of several workers: its line to the one that counts for all
   * @throws SettingsError
   */
  constructor(
    private readonly settings: Settings,
    primary?: Line,
  ) {
    this.get = compose(settings, primary);
    this.makeStore();
    this.management = new Management(this.get);
    const { BOOTSTRAP_API_KEY: given } = settings;
    if (given && !this.get(t.KEY_FORMAT).isWellFormed(given)) {
      throw new SettingsError([
        'BOOTSTRAP_API_KEY is no well-formed key; catalogue keys generate prints one',
      ]);
    }
  }

  private makeStore(): void {
    try {
      this.get(t.STORED);
    } catch (error) {
      throw error instanceof UnusableStore ? new SettingsError([error.message]) : error;
    }
  }

  get journal() {
    return this.get(t.JOURNAL);
  }

  /**
   * Listens first and opens the store then, so that probes are answered while the store is awaited.
   * @throws StoreTimeout
   * @throws SettingsError where only the start can tell
   */
  async start(): Promise<Started> {
    const health = healthEndpoints(this.get(t.STORE), this.isDraining);
    const managementPort = await this.management.start(health);
    const port = await this.listen(health);
    this.journal.info('listening', { host: this.settings.HOST, port });
    const firstKey = await this.awaitStore();
    this.get(t.SWEEPING).start();
    const storeLocation = this.get(t.STORE).location;
    this.journal.info('started', { store: this.settings.STORE, storeLocation });
    if (this.settings.STORE === 'memory')
      this.journal.warn('STORE=memory forgets everything when the process ends');
    const { authorityFile } = this.get(t.TRANSPORT);
    return { port, managementPort, storeLocation, authorityFile, firstKey };
  }

  /** Finishes what runs, for as long as the settings grant, then lets go of everything. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.get(t.TRANSPORT).close();
    const inTime = await this.drain?.drain(this.settings.SHUTDOWN_GRACE_SECONDS * 1_000);
    if (inTime === false) this.journal.warn('requests were cut off: the time to finish them was over');
    await this.management.stop();
    await this.get(t.SWEEPING).stop();
    await this.releaseIds();
    try {
      await this.get(t.STORE).close();
    } finally {
      this.get(t.RATE_LIMITS).close();
    }
    this.journal.info('stopped');
    await this.journal.flush();
  }

  private readonly isDraining = () => this.drain?.isDraining ?? false;

  private async listen(health: readonly Route[]): Promise<number> {
    const transport = this.get(t.TRANSPORT);
    const app = createApp({
      arrival: transport.arrival,
      crossOrigin: shareAcrossOrigins(this.settings.CORS_ORIGINS),
      gate: {
        authenticator: this.get(t.AUTHENTICATOR),
        limiter: this.get(t.REQUEST_LIMITER),
      },
      metadataUrl: () => metadataUrl(this.get(t.PUBLIC_URL)),
      routes: [...servedEndpoints(this.get), ...publicEndpoints(this.get), ...health],
      journal: this.journal,
      clock: this.get(t.CLOCK),
      isDraining: this.isDraining,
      bounds: new WorkBounds(this.settings.BODY_LIMIT_BYTES),
    });
    const server = await transport.open(app.callback());
    this.drain = new Drain(server);
    const port = await listen(server, this.settings.HOST, this.settings.PORT);
    this.get(t.PUBLIC_URL).listensOn(port);
    return port;
  }

  /** @returns the first key, where this start made it and it was not given */
  private async awaitStore(): Promise<string | undefined> {
    const given = this.settings.BOOTSTRAP_API_KEY;
    // One key for all tries: of one whose outcome is unknown the next try can tell that it was ours.
    const key = given || this.get(t.KEY_FORMAT).generate();
    const clock = this.get(t.CLOCK);
    const deadline = clock.elapsed() + this.settings.STORE_START_TIMEOUT_SECONDS * 1_000;
    const store = this.get(t.STORE);
    for (let attempt = 1; ; attempt++) {
      try {
        await store.open();
        const isOurs = await this.get(t.KEY_ADMINISTRATION).createFirst(key);
        return isOurs && !given ? key : undefined;
      } catch (error) {
        if (!(error instanceof CatalogueError && error.code === 'unavailable')) throw error;
        if (attempt === 1) this.journal.warn('the store cannot be reached yet; waiting', { error });
        if (clock.elapsed() >= deadline)
          throw new StoreTimeout(`The store could not be reached in time: ${error.message}`, {
            cause: error,
          });
      }
      await sleep(STORE_RETRY_MS, undefined, { signal: this.stopping.signal });
    }
  }

  private async releaseIds(): Promise<void> {
    try {
      for (const { ids } of Object.values(this.get(t.RESOURCES))) await ids.release();
    } catch (error) {
      this.journal.warn('unused ids could not be given back; they stay unused', { error });
    }
  }
}
