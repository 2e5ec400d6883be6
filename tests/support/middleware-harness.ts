import { EventEmitter } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { ConcurrencyLimits } from '#src/adapters/inbound/http/core/concurrency-limits.js';
import type { Middleware } from '#src/adapters/inbound/http/core/context.js';
import { ResultBuffers } from '#src/adapters/inbound/http/import/result-buffer.js';
import { directAddress } from '#src/adapters/inbound/http/middleware/limits.js';
import { createApp, koaListener } from '#src/adapters/inbound/http/pipeline/app.js';
import { PRODUCTS as RESOURCE } from '#src/adapters/inbound/http/resources/definitions.js';
import { resourceRoutes } from '#src/adapters/inbound/http/resources/resource-routes.js';
import { createPlainServer, Drain, type ServerTimeouts } from '#src/adapters/inbound/http/server/server.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { CredentialCache } from '#src/application/auth/credential-cache.js';
import type { ListPage, ListQuery } from '#src/application/ports/list-query.js';
import type { Logger } from '#src/application/ports/logger.js';
import type { Observer, RequestEntry } from '#src/application/ports/observer.js';
import type { RateLimiter } from '#src/application/ports/rate-limiter.js';
import { LIVE, type Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { listen } from '#src/process/listen.js';
import { PublicUrl } from '#src/shared/public-url.js';
import { testAuthenticator } from './authenticator.js';
import { FakeClock } from './fakes.js';
import { HttpClient, type Sender, senderOf } from './http-client.js';
import { recordService } from './record-service.js';
import { ENDLESS, PRODUCTS } from './tables.js';

interface MiddlewareHarness extends Sender {
  client: HttpClient;
  /** The handler after the middleware under test. */
  handler: Middleware;
}

/** Serves one middleware over plain HTTP, with a handler that each test sets, for the tests of one `describe`. */
export function middlewareHarness(middleware: Middleware, timeouts?: ServerTimeouts): MiddlewareHarness {
  const harness: Partial<MiddlewareHarness> & Pick<MiddlewareHarness, 'handler'> = {
    handler: () => {},
    ...senderOf(() => served.client),
  };
  let served: Served;
  before(async () => {
    const chain: Middleware[] = [middleware, (ctx, next) => harness.handler(ctx, next)];
    served = await serve(
      koaListener(chain, () => {}),
      timeouts,
    );
    harness.client = served.client;
  });
  after(() => close(served));
  return harness as MiddlewareHarness;
}

export interface Served {
  readonly server: Server;
  readonly client: HttpClient;
}

/** Serves a listener over plain HTTP on a free port. */
export async function serve(listener: RequestListener, timeouts?: ServerTimeouts, token = 'none'): Promise<Served> {
  const server = createPlainServer(listener, timeouts && { timeouts });
  return { server, client: new HttpClient(await listen(server, '127.0.0.1', 0), undefined, token) };
}

export function close({ server, client }: Served): void {
  client.close();
  server.close();
  server.closeAllConnections();
}

/** A repository that reports each page that is read. A test can make it fail or wait. */
class WatchedRepository extends MemoryRepository<Product> {
  readonly queries: ListQuery[] = [];
  readonly reading = new EventEmitter();
  /** Runs before each page; pages count from 1. */
  before: (page: number) => Promise<void> | void = () => {};

  constructor() {
    super(PRODUCTS, ENDLESS);
  }

  override async list(query: ListQuery): Promise<ListPage<Versioned<Product>>> {
    this.queries.push(query);
    this.reading.emit('page', this.queries.length);
    await this.before(this.queries.length);
    return super.list(query);
  }

  /** @param fields the fields of each product, or a function that makes them */
  async fill(count: number, fields: Partial<Product> | (() => Partial<Product>) = {}): Promise<void> {
    const fieldsOf = typeof fields === 'function' ? fields : () => fields;
    for (let id = 1; id <= count; id++) {
      const record = { id, version: 1, createdAt: id, updatedAt: id, fields: { name: `p${id}`, ...fieldsOf() } };
      await this.insertAll([record]);
    }
  }
}

/** Records the log entries with their details. */
export class DetailLogger implements Logger, Observer {
  readonly lines: { event: string; details: Readonly<Record<string, unknown>> }[] = [];
  private readonly record = (event: string, details = {}) => void this.lines.push({ event, details });

  info = this.record;
  warn = this.record;
  error = this.record;
  request = () => ({ end: (entry: RequestEntry) => this.record('request', { ...entry }) });
}

export interface ListService extends Sender {
  readonly records: WatchedRepository;
  readonly logger: DetailLogger;
  readonly client: HttpClient;
  readonly drain: Drain;
  /** The sockets of the server, in the order of the connections. */
  readonly connections: readonly Socket[];
}

/**
 * Serves the products of a watched repository over plain HTTP, without tokens, for the tests of one `describe`.
 * @param origins the origins whose scripts may read the responses
 */
export function listService(origins = '', limits = new ConcurrencyLimits(1_000)): ListService {
  let served: Served;
  const service: Partial<ListService> = senderOf(() => served.client);
  beforeEach(async () => {
    const records = new WatchedRepository();
    const logger = new DetailLogger();
    served = await serve(appOver(records, logger, origins, limits));
    const { server, client } = served;
    const connections: Socket[] = [];
    server.on('connection', (socket) => connections.push(socket));
    Object.assign(service, { records, logger, client, drain: new Drain(server), connections });
  });
  afterEach(() => close(served));
  return service as ListService;
}

function appOver(records: WatchedRepository, logger: Logger & Observer, origins: string, limits: ConcurrencyLimits) {
  const clock = new FakeClock();
  const service = recordService(records, RESOURCE, { clock });
  const imports = { resultBuffers: new ResultBuffers({ folder: 'unused' }), logger };
  const policy = {
    bodyLimitBytes: 1_000,
    requireIfMatch: false,
    cacheControl: 'private, no-cache',
    publicView: { cacheControl: 'public, max-age=60', filter: LIVE, includes: () => true },
  };
  return createApp({
    clientAddress: directAddress,
    corsOrigins: origins,
    accessControl: {
      authenticator: testAuthenticator({ failures: UNLIMITED, cache: new CredentialCache(clock) }),
      limiter: UNLIMITED,
    },
    routes: resourceRoutes(RESOURCE, service, policy, imports),
    publicUrl: new PublicUrl({ PUBLIC_URL: 'https://localhost', PORT: 1 }),
    observers: [logger],
    logger,
    clock,
    isDraining: () => false,
    limits,
  });
}

const STATE = { allowed: true, remaining: 1, resetSeconds: 1 };
const UNLIMITED: RateLimiter = {
  policy: { name: 'default', quota: 1, windowSeconds: 1 },
  consume: async () => STATE,
  peek: async () => STATE,
};
