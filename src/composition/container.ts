import 'reflect-metadata';
import { join } from 'node:path';
import {
  type DependencyContainer,
  type InjectionToken,
  instanceCachingFactory,
  container as root,
} from 'tsyringe';
import { docsEndpoints } from '../adapters/inbound/http/docs/docs-endpoints.js';
import { Spools } from '../adapters/inbound/http/imports/spools.js';
import { openApiEndpoint } from '../adapters/inbound/http/openapi/openapi-endpoint.js';
import type { Channel } from '../adapters/outbound/cluster/cluster-rate-limiter.js';
import { PinoLogger } from '../adapters/outbound/pino/pino-logger.js';
import { PrometheusMetrics } from '../adapters/outbound/prometheus/prometheus-metrics.js';
import { RandomBackoff } from '../adapters/outbound/system/random-backoff.js';
import { SystemClock } from '../adapters/outbound/system/system-clock.js';
import { ChecksummedApiKey } from '../adapters/outbound/tokens/checksummed-api-key.js';
import { JwtSigning } from '../adapters/outbound/tokens/jwt-signing.js';
import { ApiKeyVerifier } from '../application/api-key-verifier.js';
import { Authenticator } from '../application/authenticator.js';
import { KeyAdministration } from '../application/key-administration.js';
import { QueryBudget } from '../application/maintenance/query-budget.js';
import { OwnTokenVerifier } from '../application/own-token-verifier.js';
import { UnusableStore } from '../application/ports/store.js';
import { Retention } from '../application/retention.js';
import { SigningKeyAdministration } from '../application/signing-key-administration.js';
import { SigningKeys } from '../application/signing-keys.js';
import { type Settings, SettingsError } from '../config/settings.js';
import { bearerVerifier } from './bearer-tokens.js';
import * as t from './injection-tokens.js';
import { oauthRoutes } from './issuer.js';
import { Management } from './management.js';
import { describedService } from './openapi.js';
import { ServiceAddress } from './public-address.js';
import { PurgeJob } from './purge-job.js';
import { type MakeRateLimits, RATE_LIMITERS } from './rate-limits.js';
import { composeResources } from './resources.js';
import { Service } from './service.js';
import { type MakeStorage, STORES } from './stores.js';
import { TRANSPORTS } from './transports.js';

/** The composed program. Each part is made when it is first read. */
export class Application {
  constructor(private readonly container: DependencyContainer) {}

  get service() {
    return this.container.resolve(t.SERVICE);
  }

  /** What {@link service} is made of. */
  get serviceParts() {
    return this.container.resolve(t.SERVICE_PARTS);
  }

  get storage() {
    return this.container.resolve(t.STORAGE);
  }

  get clock() {
    return this.container.resolve(t.CLOCK);
  }

  get resources() {
    return this.container.resolve(t.RESOURCES);
  }

  get keyAdministration() {
    return this.container.resolve(t.KEY_ADMINISTRATION);
  }

  get signingKeyAdministration() {
    return this.container.resolve(t.SIGNING_KEY_ADMINISTRATION);
  }

  get openApiDocument() {
    return this.container.resolve(t.OPENAPI_DOCUMENT);
  }
}

/**
 * Composes the program: this file names the adapter of every port. The container goes no further than this file; every
 * part is given the parts that it needs.
 * @param primary in a cluster worker: its channel to the primary, which counts for all workers
 */
export async function compose(settings: Settings, primary?: Channel): Promise<Application> {
  const makeStorage = await STORES[settings.STORE]();
  const makeRateLimits = await RATE_LIMITERS[settings.RATE_LIMITER]();
  return composeWith({ settings, makeStorage, makeRateLimits, primary });
}

export interface Choices {
  readonly settings: Settings;
  readonly makeStorage: MakeStorage;
  readonly makeRateLimits: MakeRateLimits;
  readonly primary?: Channel | undefined;
}

/** Composes the program as {@link compose} does, with a storage and rate limiters that are loaded already. */
export function composeWith({ settings, makeStorage, makeRateLimits, primary }: Choices): Application {
  const container = root.createChildContainer();
  registerSystem(container, settings);
  register(container, t.STORAGE, (c) => {
    const budget = new QueryBudget(c.resolve(t.CLOCK), settings.QUERY_TIMEOUT_MS);
    return makeStorage(settings, { budget, logger: c.resolve(t.LOGGER) });
  });
  register(container, t.RATE_LIMITS, (c) => {
    return makeRateLimits({ settings, metrics: c.resolve(t.METRICS), logger: c.resolve(t.LOGGER), primary });
  });
  registerAuth(container, settings);
  registerResources(container, settings);
  registerService(container, settings);
  return new Application(container);
}

/**
 * @param primary see {@link compose}
 * @throws SettingsError
 */
export async function createService(settings: Settings, primary?: Channel): Promise<Service> {
  const application = await compose(settings, primary);
  try {
    return application.service;
  } catch (error) {
    throw error instanceof UnusableStore ? new SettingsError([error.message]) : error;
  }
}

/** Registers a part that is made once, when it is first resolved. */
function register<Part>(
  container: DependencyContainer,
  token: InjectionToken<Part>,
  make: (c: DependencyContainer) => NoInfer<Part>,
): void {
  container.register<Part>(token, { useFactory: instanceCachingFactory<Part>(make) });
}

function registerSystem(container: DependencyContainer, settings: Settings): void {
  register(container, t.CLOCK, () => new SystemClock());
  register(container, t.BACKOFF, () => new RandomBackoff());
  register(container, t.LOGGER, () => new PinoLogger(settings.LOG_LEVEL));
  register(container, t.METRICS, () => new PrometheusMetrics());
}

function registerAuth(container: DependencyContainer, settings: Settings): void {
  register(container, t.KEY_FORMAT, () => new ChecksummedApiKey());
  register(container, t.API_KEY_VERIFIER, (c) => {
    return new ApiKeyVerifier({
      keys: c.resolve(t.STORAGE).apiKeys,
      format: c.resolve(t.KEY_FORMAT),
      clock: c.resolve(t.CLOCK),
      journal: c.resolve(t.LOGGER),
    });
  });
  register(container, t.KEY_ADMINISTRATION, (c) => {
    return new KeyAdministration({
      useCases: c.resolve(t.RESOURCES).apiKeys.useCases,
      keys: c.resolve(t.STORAGE).apiKeys,
      format: c.resolve(t.KEY_FORMAT),
      clock: c.resolve(t.CLOCK),
    });
  });
  register(container, t.PUBLIC_ADDRESS, () => new ServiceAddress(settings));
  register(container, t.TOKEN_SIGNING, () => new JwtSigning());
  register(container, t.SIGNING_KEY_ADMINISTRATION, (c) => {
    return new SigningKeyAdministration({
      keys: c.resolve(t.STORAGE).signingKeys,
      signing: c.resolve(t.TOKEN_SIGNING),
      clock: c.resolve(t.CLOCK),
    });
  });
  register(container, t.SIGNING_KEYS, (c) => {
    return new SigningKeys({
      administration: c.resolve(t.SIGNING_KEY_ADMINISTRATION),
      signing: c.resolve(t.TOKEN_SIGNING),
      clock: c.resolve(t.CLOCK),
    });
  });
  register(container, t.TOKEN_VERIFIER, (c) => {
    return bearerVerifier({
      settings,
      format: c.resolve(t.KEY_FORMAT),
      apiKeys: c.resolve(t.API_KEY_VERIFIER),
      own: new OwnTokenVerifier({
        keys: c.resolve(t.SIGNING_KEYS),
        address: c.resolve(t.PUBLIC_ADDRESS),
        signing: c.resolve(t.TOKEN_SIGNING),
        clock: c.resolve(t.CLOCK),
      }),
      clock: c.resolve(t.CLOCK),
      logger: c.resolve(t.LOGGER),
    });
  });
  register(container, t.AUTHENTICATOR, (c) => {
    const format = c.resolve(t.KEY_FORMAT);
    return new Authenticator({
      verifier: c.resolve(t.TOKEN_VERIFIER),
      failures: c.resolve(t.RATE_LIMITS).failures,
      digest: (token) => format.digest(token),
      clock: c.resolve(t.CLOCK),
    });
  });
  register(container, t.OAUTH_ROUTES, (c) => {
    return oauthRoutes({
      settings,
      verifier: c.resolve(t.API_KEY_VERIFIER),
      apiKeys: c.resolve(t.STORAGE).apiKeys,
      signingKeys: c.resolve(t.SIGNING_KEYS),
      authenticator: c.resolve(t.AUTHENTICATOR),
      failures: c.resolve(t.RATE_LIMITS).failures,
      address: c.resolve(t.PUBLIC_ADDRESS),
      clock: c.resolve(t.CLOCK),
    });
  });
}

function registerResources(container: DependencyContainer, settings: Settings): void {
  register(container, t.RESOURCES, (c) => {
    return composeResources({
      settings,
      storage: c.resolve(t.STORAGE),
      clock: c.resolve(t.CLOCK),
      backoff: c.resolve(t.BACKOFF),
      format: c.resolve(t.KEY_FORMAT),
      verifier: c.resolve(t.API_KEY_VERIFIER),
      imports: {
        spools: new Spools({ folder: join(settings.DATA_DIR, 'spool') }),
        journal: c.resolve(t.LOGGER),
      },
    });
  });
  register(container, t.ROUTES, (c) => ({
    protected: Object.values(c.resolve(t.RESOURCES)).flatMap(({ endpoints }) => endpoints),
    public: [
      ...c.resolve(t.OAUTH_ROUTES),
      openApiEndpoint(() => c.resolve(t.OPENAPI_DOCUMENT)),
      ...docsEndpoints(),
    ],
  }));
  register(container, t.OPENAPI_DOCUMENT, (c) => {
    return describedService({
      settings,
      routes: c.resolve(t.ROUTES),
      store: c.resolve(t.STORAGE).store,
      url: c.resolve(t.PUBLIC_ADDRESS).url,
    });
  });
}

function registerService(container: DependencyContainer, settings: Settings): void {
  register(container, t.SERVICE_PARTS, (c) => {
    const [clock, logger, storage] = [c.resolve(t.CLOCK), c.resolve(t.LOGGER), c.resolve(t.STORAGE)];
    return {
      settings,
      logger,
      clock,
      store: storage.store,
      purgeJob: new PurgeJob(new Retention(storage.expiring, clock), logger),
      rateLimits: c.resolve(t.RATE_LIMITS),
      authenticator: c.resolve(t.AUTHENTICATOR),
      keyFormat: c.resolve(t.KEY_FORMAT),
      keyAdministration: c.resolve(t.KEY_ADMINISTRATION),
      publicAddress: c.resolve(t.PUBLIC_ADDRESS),
      routes: c.resolve(t.ROUTES),
      transport: TRANSPORTS[settings.TLS](settings, clock, logger),
      management: new Management({
        host: settings.MANAGEMENT_HOST,
        port: settings.MANAGEMENT_PORT,
        metrics: c.resolve(t.METRICS),
        logger,
      }),
      ids: Object.values(c.resolve(t.RESOURCES)).map(({ ids }) => ids),
    };
  });
  register(container, t.SERVICE, (c) => new Service(c.resolve(t.SERVICE_PARTS)));
}
