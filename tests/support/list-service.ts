import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createApp } from '#src/adapters/inbound/http/app.js';
import { Spools } from '#src/adapters/inbound/http/imports/spools.js';
import { fromClients } from '#src/adapters/inbound/http/middleware/arrival.js';
import { shareAcrossOrigins } from '#src/adapters/inbound/http/middleware/share-across-origins.js';
import { resourceEndpoints } from '#src/adapters/inbound/http/resource-endpoints.js';
import { PRODUCTS as RESOURCE } from '#src/adapters/inbound/http/resources/products.js';
import { Drain } from '#src/adapters/inbound/http/server/drain.js';
import { createPlainServer } from '#src/adapters/inbound/http/server/server.js';
import { WorkBounds } from '#src/adapters/inbound/http/work-bounds.js';
import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/memory-idempotency-store.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/memory-repository.js';
import { Authenticator } from '#src/application/authenticator.js';
import type { ListPage, ListQuery } from '#src/application/list-query.js';
import type { Journal } from '#src/application/ports/journal.js';
import type { RateLimiter } from '#src/application/ports/rate-limiter.js';
import { LeasedIds } from '#src/application/records/id-allocator.js';
import { RecordService } from '#src/application/records/record-service.js';
import { listen } from '#src/composition/listen.js';
import { normalizeProduct, type Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { CountingBackoff, FakeClock } from './fakes.js';
import { HttpClient } from './http-client.js';
import { ENDLESS, PRODUCTS } from './tables.js';

/** Tells of every page that is read, and fails or waits where a test wants that. */
export class WatchedRepository extends MemoryRepository<Product> {
  readonly queries: ListQuery[] = [];
  readonly reading = new EventEmitter();
  /** Runs before each page, with the number of it from 1. */
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

  /** @param fields of each, or what makes those of each */
  async fill(count: number, fields: Partial<Product> | (() => Partial<Product>) = {}): Promise<void> {
    const more = typeof fields === 'function' ? fields : () => fields;
    for (let id = 1; id <= count; id++) {
      const record = { id, version: 1, createdAt: id, updatedAt: id, fields: { name: `p${id}`, ...more() } };
      await this.insert(record);
    }
  }
}

export class NotingJournal implements Journal {
  readonly lines: { event: string; details: Readonly<Record<string, unknown>> }[] = [];
  private readonly note = (event: string, details = {}) => void this.lines.push({ event, details });

  info = this.note;
  warn = this.note;
  error = this.note;
}

export interface ListService {
  readonly records: WatchedRepository;
  readonly journal: NotingJournal;
  readonly client: HttpClient;
  readonly drain: Drain;
  /** The server's ends of the connections, in the order in which they came. */
  readonly connections: readonly Socket[];
}

/**
 * The products of a watched repository over plain HTTP, for anyone to read; for the tests of one `describe`.
 * @param origins whose scripts may read the answers
 */
export function listService(origins = ''): ListService {
  const service: { -readonly [Name in keyof ListService]?: ListService[Name] } = {};
  let server: Server;
  beforeEach(async () => {
    const records = new WatchedRepository();
    const journal = new NotingJournal();
    server = createPlainServer(appOver(records, journal, origins).callback());
    const connections: Socket[] = [];
    server.on('connection', (socket) => connections.push(socket));
    const client = new HttpClient(await listen(server, '127.0.0.1', 0), undefined, 'none');
    Object.assign(service, { records, journal, client, drain: new Drain(server), connections });
  });
  afterEach(() => {
    service.client?.close();
    server.close();
    server.closeAllConnections();
  });
  return service as ListService;
}

function appOver(records: WatchedRepository, journal: Journal, origins: string) {
  const clock = new FakeClock();
  const rules = { normalize: normalizeProduct };
  const ids = new LeasedIds(records);
  const reservations = new MemoryIdempotencyStore();
  const useCases = new RecordService({
    records,
    view: RESOURCE,
    reservations,
    ids,
    rules,
    clock,
    backoff: new CountingBackoff(),
  });
  const imports = { spools: new Spools({ folder: 'unused' }), journal };
  const policy = {
    bodyLimitBytes: 1_000,
    requireIfMatch: false,
    publicRead: true,
    cacheControl: 'public, max-age=60',
  };
  const verifier = { verify: () => Promise.reject(new Error('nobody is known')) };
  return createApp({
    arrival: fromClients,
    crossOrigin: shareAcrossOrigins(origins),
    gate: {
      authenticator: new Authenticator({ verifier, failures: UNLIMITED, digest: (token) => token, clock }),
      limiter: UNLIMITED,
      failures: UNLIMITED,
    },
    endpoints: resourceEndpoints(RESOURCE, useCases, policy, imports),
    publicEndpoints: [],
    metadataUrl: () => 'https://localhost/.well-known/oauth-protected-resource',
    healthEndpoints: [],
    journal,
    clock,
    isDraining: () => false,
    bounds: new WorkBounds(1_000),
  });
}

const STATE = { allowed: true, remaining: 1, resetSeconds: 1 };
const UNLIMITED: RateLimiter = {
  policy: { name: 'default', quota: 1, windowSeconds: 1 },
  consume: async () => STATE,
  peek: async () => STATE,
};
