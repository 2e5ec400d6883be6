import type { RequestListener } from 'node:http';
import type { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isProbe, type Route } from '../adapters/inbound/http/core/route.js';
import { healthRoutes } from '../adapters/inbound/http/pages/pages.js';
import { createApp } from '../adapters/inbound/http/pipeline/app.js';
import { createPlainServer, createTlsServer, Drain, replaceIdentity } from '../adapters/inbound/http/server/server.js';
import { type Application, asSettingsError, compose } from '../composition/application.js';
import { PeriodicJob } from '../composition/jobs.js';
import { forgetsEverything, STORES } from '../composition/stores/index.js';
import type { Settings, TracingSettings } from '../config/settings.js';
import { AppError } from '../domain/errors.js';
import type { Instant } from '../domain/record.js';
import { systemReason } from '../shared/shown-text.js';
import { prepareDataDir } from './data-dir.js';
import { AddressInUse, listen, listenOnPassedSocket, logErrors } from './listen.js';
import { Management } from './management.js';

const STORE_RETRY_MS = 500;

/** How long the connections to a passed socket wait for the store before they get 503 while it is unreachable. */
const PASSED_SOCKET_WAIT_MS = 5_000;
/** How long the first requests to another socket wait for the store. A proxy may send them before its next probe. */
const FIRST_REQUESTS_WAIT_MS = 2_000;

/** The store could not be opened in time. */
export class StoreTimeout extends Error {}

export interface Started {
  readonly port: number;
  readonly managementPort: number;
  readonly storeLocation: string;
  /** The CA that a client has to trust; absent if a public one signed the certificate. */
  readonly authorityFile: string | undefined;
  /** When the certificate expired, if it had before the start. */
  readonly expired: Instant | undefined;
  /** The first key of the store, if this start generated it. */
  readonly firstKey: string | undefined;
}

/** One running service: a server over a store, and its management port. It starts once and stops once. */
export class Service {
  private readonly management: Management;
  private readonly jobs: readonly PeriodicJob[];
  private readonly stopping = new AbortController();
  private drain: Drain | undefined;
  private opening: Promise<string | undefined> | undefined;
  private isServing = false;
  private areFirstRequestsLate = false;
  /** Serve the requests that wait for the store. */
  private readonly held: (() => void)[] = [];

  /** @param firstRequestsWaitMs how long the first requests wait for the store */
  constructor(
    private readonly parts: Application,
    private readonly firstRequestsWaitMs = FIRST_REQUESTS_WAIT_MS,
  ) {
    const { settings, metricsReport: metrics, logger, jobs } = parts;
    const { MANAGEMENT_HOST: host, MANAGEMENT_PORT: port } = settings;
    this.management = new Management({ host, port, metrics, logger });
    this.jobs = jobs.map((job) => new PeriodicJob(job, logger));
  }

  get logger(): Application['logger'] {
    return this.parts.logger;
  }

  /**
   * Listens before it opens the store, so that probes get a response while the service waits for the store. Other
   * requests wait until it is ready, for {@link FIRST_REQUESTS_WAIT_MS} at most.
   * @param descriptor a socket on which a supervisor listens. It has connections that wait for the successor of a
   *   process, so the store is opened first, for {@link PASSED_SOCKET_WAIT_MS} at most: no waiting request gets 503
   * @throws StoreTimeout, AddressInUse; SettingsError for problems that only a start can detect
   */
  async start(descriptor?: number): Promise<Started> {
    const { management, jobs } = this;
    const { settings, logger, clock, store, transport, createFolder } = this.parts;
    await prepareDataDir(settings.DATA_DIR, createFolder);
    const health = healthRoutes(store, this.unreadiness);
    const [managementPort, port] =
      descriptor === undefined
        ? await bothPorts(management.start(health), () => this.listen(health))
        : [await management.start(health), await this.listen(health, descriptor)];
    logger.info('listening', { ...(descriptor === undefined && { host: settings.HOST }), port });
    const firstKey = await this.openStore();
    for (const job of jobs) job.start();
    const storeLocation = store.location;
    const expiry = transport.certificate?.expiry;
    logger.info('started', { store: settings.STORE, storeLocation });
    if (!STORES[settings.STORE].kept) logger.warn(forgetsEverything(settings.STORE));
    return {
      port,
      managementPort,
      storeLocation,
      authorityFile: transport.certificate?.authorityFile,
      expired: expiry !== undefined && expiry <= clock.now() ? expiry : undefined,
      firstKey,
    };
  }

  /**
   * Finishes running requests within the grace period of the settings, then releases everything. The reader of the log
   * has the rest of the period.
   */
  async stop(): Promise<void> {
    const { settings, tracing, logger, clock, store, rateLimits, transport, watches } = this.parts;
    const graceMs = settings.SHUTDOWN_GRACE_SECONDS * 1_000;
    const deadline = clock.elapsed() + graceMs;
    this.stopping.abort();
    transport.certificate?.close();
    const drained = this.drain?.drain(graceMs);
    // Once it drains, so that their responses close the connections.
    for (const watch of Object.values(watches)) watch.stop();
    const isInTime = await drained;
    if (isInTime === false) logger.warn('requests were cut off: the time to finish them was over');
    await this.management.stop();
    for (const job of this.jobs) await job.stop(Math.max(0, deadline - clock.elapsed()));
    await this.releaseIds();
    try {
      await store.close();
    } finally {
      rateLimits.close();
      await tracing?.close();
    }
    logger.info('stopped');
    await logger.flush(deadline - clock.elapsed());
  }

  private readonly isDraining = () => this.drain?.isDraining ?? false;

  private readonly unreadiness = () => (this.isDraining() ? 'The service is stopping.' : this.pending());

  /** What the service waits for before it uses its store for requests: without the first key it would refuse that key. */
  private readonly pending = () =>
    this.isServing ? undefined : (this.parts.derivedDataBuild.pending ?? 'The service waits for its store.');

  private async listen(health: readonly Route[], descriptor?: number): Promise<number> {
    const { settings, observers, logger, clock, rateLimits, authenticator, publicUrl, routes, transport, limits } =
      this.parts;
    const listener = createApp({
      clientAddress: transport.clientAddress,
      corsOrigins: settings.CORS_ORIGINS,
      accessControl: { authenticator, limiter: rateLimits.requests, pending: this.pending },
      publicUrl,
      routes: [...routes, ...health],
      observers,
      logger,
      clock,
      isDraining: this.isDraining,
      limits,
    });
    const server = await this.createServer(this.afterOpening(listener));
    this.drain = new Drain(server);
    const port = await (descriptor === undefined
      ? listen(server, settings.HOST, settings.PORT, undefined, (other) => this.drain?.add(other))
      : this.listenWithStore(server, descriptor));
    logErrors(server, logger);
    publicUrl.listensOn(port);
    return port;
  }

  /** Returns a server that does not listen yet. @throws SettingsError */
  private async createServer(listener: RequestListener): Promise<Server> {
    const { transport, publicUrl } = this.parts;
    const { headers, certificate } = transport;
    if (!certificate) return createPlainServer(listener, { headers });
    const identity = await certificate
      .open((newer) => replaceIdentity(server, newer))
      .catch((error: unknown) => {
        throw asSettingsError(error);
      });
    const server = createTlsServer(identity, listener, { headers, publicUrl: () => publicUrl.url });
    return server;
  }

  /**
   * Returns a listener that keeps the first requests waiting until the service is ready, but not probes. A request whose
   * client disconnects meanwhile is never handled.
   */
  private afterOpening(listener: RequestListener): RequestListener {
    setTimeout(() => {
      this.areFirstRequestsLate = true;
      this.serveHeld();
    }, this.firstRequestsWaitMs).unref();
    return (request, response) => {
      if (this.isServing || this.areFirstRequestsLate || isProbe(request)) return listener(request, response);
      this.held.push(() => {
        if (!response.closed) listener(request, response);
      });
    };
  }

  private serveHeld(): void {
    for (const serve of this.held.splice(0)) serve();
  }

  private async listenWithStore(server: Server, descriptor: number): Promise<number> {
    const { signal } = this.stopping;
    await Promise.race([this.openStore(), sleep(PASSED_SOCKET_WAIT_MS, undefined, { signal, ref: false })]);
    return listenOnPassedSocket(server, descriptor);
  }

  /** @returns the first key, if this start generated it */
  private openStore(): Promise<string | undefined> {
    this.opening ??= this.openStoreInTime();
    return this.opening;
  }

  private async openStoreInTime(): Promise<string | undefined> {
    const { settings, logger, clock, store, feedState, derivedDataBuild, newApiKey, apiKeys } = this.parts;
    const { signal } = this.stopping;
    const pause = () => sleep(STORE_RETRY_MS, undefined, { signal });
    const bootstrapKey = settings.BOOTSTRAP_API_KEY;
    // All attempts use one key. If the outcome of an attempt is unknown, the next one recognizes the key.
    const key = bootstrapKey || newApiKey();
    let deadline = clock.elapsed() + settings.STORE_START_TIMEOUT_SECONDS * 1_000;
    const complete = async () => {
      const begunAt = clock.elapsed();
      await derivedDataBuild
        .complete(pause, () => signal.aborted)
        .finally(() => {
          deadline += clock.elapsed() - begunAt;
        });
      signal.throwIfAborted();
    };
    for (let attempt = 1; ; attempt++) {
      try {
        await store.open();
        await complete();
        await (settings.CHANGES === 'on' ? feedState.turnOn() : feedState.turnOff());
        const isOurs = await apiKeys.createFirst(key);
        this.isServing = true;
        this.serveHeld();
        return isOurs && !bootstrapKey ? key : undefined;
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'unavailable')) throw asSettingsError(error);
        if (attempt === 1) logger.warn('the store cannot be reached yet; waiting', { error });
        if (clock.elapsed() >= deadline)
          throw new StoreTimeout(`The store could not be reached in time: ${error.message}${reasonOf(error)}`, {
            cause: error,
          });
      }
      await pause();
    }
  }

  private async releaseIds(): Promise<void> {
    try {
      for (const ids of this.parts.ids) await ids.release();
    } catch (error) {
      this.parts.logger.warn('reserved ids could not be released; they stay unused', { error });
    }
  }
}

/**
 * @param primary, tracing see {@link compose}
 * @throws SettingsError
 */
export async function createService(
  settings: Settings,
  primary?: Parameters<typeof compose>[1],
  tracing?: TracingSettings,
): Promise<Service> {
  const application = await compose(settings, primary, tracing);
  try {
    return new Service(application);
  } catch (error) {
    throw asSettingsError(error);
  }
}

/**
 * Tries the second port even if the first one is taken, because another instance takes both.
 * @throws AddressInUse with one line for each port that is taken
 */
async function bothPorts(first: Promise<number>, listenOnSecond: () => Promise<number>): Promise<[number, number]> {
  const ports = [await orTaken(first), await orTaken(listenOnSecond())] as const;
  const lines = ports.flatMap((port) => (typeof port === 'number' ? [] : [port.message]));
  if (lines.length > 0) throw new AddressInUse(lines.join('\n'));
  return ports as [number, number];
}

async function orTaken(port: Promise<number>): Promise<number | AddressInUse> {
  try {
    return await port;
  } catch (error) {
    if (error instanceof AddressInUse) return error;
    throw error;
  }
}

/** What the operating system or the driver said, which no client may see. */
function reasonOf({ cause }: Error): string {
  return cause instanceof Error ? ` The reason: ${systemReason(cause)}.` : '';
}
