import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from '../adapters/inbound/http/app.js';
import { Drain } from '../adapters/inbound/http/drain.js';
import { healthEndpoints } from '../adapters/inbound/http/health-endpoints.js';
import { createTlsServer, listen } from '../adapters/inbound/http/server.js';
import type { Line } from '../adapters/outbound/cluster/rate-messages.js';
import { type Settings, SettingsError } from '../config/settings.js';
import { CatalogueError } from '../domain/errors.js';
import { compose } from './container.js';
import * as t from './tokens.js';
import type { Get } from './typed-token.js';

const STORE_RETRY_MS = 500;
const CERTIFICATE_CHECK_MS = 12 * 3_600_000;

/** The store could not be opened in time. */
export class StoreTimeout extends Error {}

export interface Started {
  readonly port: number;
  readonly storeLocation: string;
  /** What a client is to trust. */
  readonly authorityFile: string;
  /** The store's first key, where this start made it and it was not given. */
  readonly firstKey: string | undefined;
}

/** One running service: an HTTPS server over a store. Starts once and stops once. */
export class Service {
  private readonly get: Get;
  private readonly stopping = new AbortController();
  private drain: Drain | undefined;
  private renewal: NodeJS.Timeout | undefined;

  /**
   * @param primary where this process is one of several workers: its line to the one that counts for all
   * @throws SettingsError
   */
  constructor(
    private readonly settings: Settings,
    primary?: Line,
  ) {
    this.get = compose(settings, primary);
    const { BOOTSTRAP_API_KEY: given } = settings;
    if (given && !this.get(t.KEY_FORMAT).isWellFormed(given)) {
      throw new SettingsError([
        'BOOTSTRAP_API_KEY is no well-formed key; catalogue keys generate prints one',
      ]);
    }
  }

  get journal() {
    return this.get(t.JOURNAL);
  }

  /**
   * Listens first and opens the store then, so that probes are answered while the store is awaited.
   * @throws StoreTimeout
   */
  async start(): Promise<Started> {
    const port = await this.listen();
    this.journal.info('listening', { host: this.settings.HOST, port });
    await this.openStore();
    const firstKey = await this.makeFirstKey();
    const storeLocation = this.get(t.STORE).location;
    this.journal.info('started', { store: this.settings.STORE, storeLocation });
    if (this.settings.STORE === 'memory')
      this.journal.warn('STORE=memory forgets everything when the process ends');
    return { port, storeLocation, authorityFile: this.get(t.CERTIFICATES).authorityFile, firstKey };
  }

  /** Finishes what runs, for as long as the settings grant, then lets go of everything. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearInterval(this.renewal);
    const inTime = await this.drain?.drain(this.settings.SHUTDOWN_GRACE_SECONDS * 1_000);
    if (inTime === false) this.journal.warn('requests were cut off: the time to finish them was over');
    await this.releaseIds();
    await this.get(t.STORE).close();
    this.journal.info('stopped');
    this.journal.flush();
  }

  private async listen(): Promise<number> {
    const certificates = this.get(t.CERTIFICATES);
    let identity = await certificates.current();
    const app = createApp({
      gate: {
        authenticator: this.get(t.AUTHENTICATOR),
        limiter: this.get(t.LIMITERS).requests,
        failures: this.get(t.LIMITERS).failures,
      },
      endpoints: this.get(t.PRODUCT_ENDPOINTS).endpoints(),
      healthEndpoints: healthEndpoints(this.get(t.STORE), () => this.drain?.isDraining ?? false),
      journal: this.journal,
      clock: this.get(t.CLOCK),
      isDraining: () => this.drain?.isDraining ?? false,
    });
    const server = createTlsServer(identity, app.callback());
    this.drain = new Drain(server);
    this.renewal = setInterval(async () => {
      try {
        const current = await certificates.current();
        if (current.cert !== identity.cert) server.setSecureContext(current);
        identity = current;
      } catch (error) {
        this.journal.error('the certificate could not be renewed', { error });
      }
    }, CERTIFICATE_CHECK_MS).unref();
    return listen(server, this.settings.PORT, this.settings.HOST);
  }

  private async openStore(): Promise<void> {
    const clock = this.get(t.CLOCK);
    const deadline = clock.elapsed() + this.settings.STORE_START_TIMEOUT_SECONDS * 1_000;
    const store = this.get(t.STORE);
    for (let attempt = 1; ; attempt++) {
      try {
        return await store.open();
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

  private async makeFirstKey(): Promise<string | undefined> {
    const given = this.settings.BOOTSTRAP_API_KEY || undefined;
    const made = await this.get(t.KEY_ADMINISTRATION).createFirst(given);
    return given ? undefined : made;
  }

  private async releaseIds(): Promise<void> {
    try {
      await this.get(t.PRODUCT_IDS).release();
    } catch (error) {
      this.journal.warn('unused ids could not be given back; they stay unused', { error });
    }
  }
}
