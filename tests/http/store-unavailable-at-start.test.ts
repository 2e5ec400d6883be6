import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { memoryStorage } from '#src/adapters/outbound/memory/storage.js';
import type { DerivedData, DerivedTable } from '#src/application/ports/derived-data.js';
import { composeWith } from '#src/composition/application.js';
import { memoryRateLimits } from '#src/composition/rate-limits.js';
import { loadSettings } from '#src/config/settings.js';
import { type AppError, unavailable } from '#src/domain/errors.js';
import { Service } from '#src/process/service.js';
import { product } from '../contract/repository/records.js';
import { AdvancedClock } from '../support/fakes.js';
import { freePort } from '../support/free-port.js';
import { expectRefusal, HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { Scrape } from '../support/scrape.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/**
 * A service whose store opens, has numbered its records, and takes the first key, when a test says so.
 * @param firstRequestsWaitMs no slow machine reaches the default
 */
function serviceThatStartsLate(firstRequestsWaitMs = 600_000) {
  const folder = temporaryFolder();
  const state = {
    clock: new AdvancedClock(),
    open: () => {},
    holder: '',
    isNumbered: true,
    number: undefined as (() => void) | undefined,
    storeFirstKey: undefined as ((error?: AppError) => void) | undefined,
  } as {
    readonly clock: AdvancedClock;
    open(): void;
    /** Who has the lease of derived data. */
    holder: string;
    isNumbered: boolean;
    /** Undefined before the service numbers the records. */
    number: (() => void) | undefined;
    /** Undefined before the service stores the first key. */
    storeFirstKey: ((error?: AppError) => void) | undefined;
    client: HttpClient;
    started: ReturnType<Service['start']>;
  };
  const records: DerivedTable = {
    name: 'products',
    isStale: async () => !state.isNumbered,
    deriveNext: async () => {
      await new Promise<void>((resolve) => (state.number = resolve));
      state.isNumbered = true;
      return { records: 1, hasMore: false };
    },
  };
  const derived: DerivedData = {
    tables: [],
    lease: async (holder) => {
      state.holder = holder;
      return undefined;
    },
    release: async () => {
      state.holder = '';
    },
  };
  let service: Service;
  before(async () => {
    const settings = {
      PORT: `${await freePort()}`,
      MANAGEMENT_PORT: '0',
      STORE: 'memory',
      DATA_DIR: folder,
      LOG_LEVEL: 'silent',
      SHUTDOWN_GRACE_SECONDS: '1',
      STORE_START_TIMEOUT_SECONDS: '3600',
      BOOTSTRAP_API_KEY: FIRST_KEY,
    };
    const application = composeWith({
      settings: loadSettings(settings),
      makeParts: (options) => {
        const parts = memoryStorage(options);
        return { ...parts, derived, feedState: Object.assign(parts.feedState, { unnumbered: [records] }) };
      },
      makeRateLimits: memoryRateLimits,
      clock: state.clock,
    });
    const { store, apiKeys, products } = application.storage;
    const opened = new Promise<void>((resolve) => (state.open = resolve));
    store.open = () => opened;
    const insertKeys = apiKeys.insertAll.bind(apiKeys);
    apiKeys.insertAll = async (keys) => {
      const failure = await new Promise<AppError | undefined>((resolve) => (state.storeFirstKey = resolve));
      if (failure) throw failure;
      return insertKeys(keys);
    };
    await products.insertAll([product(1)]);
    service = new Service(application, firstRequestsWaitMs);
    state.started = service.start();
    const authority = `${folder}/tls/ca.pem`;
    await until('the certificate exists', () => existsSync(authority));
    state.client = new HttpClient(Number(settings.PORT), authority, FIRST_KEY);
    await until('it listens', () => probe(state.client));
  });
  after(async () => {
    state.client.close();
    await service.stop();
  });
  return state;
}

async function probe(client: HttpClient): Promise<void> {
  expect((await client.get('/health/live')).status).to.equal(200);
}

/** What needs the store gets 503 at once, even if it would need no key; the rest is served. */
async function expectUnready({ client }: { readonly client: HttpClient }, reason: RegExp): Promise<void> {
  await probe(client);
  expect((await client.get('/openapi.json')).status).to.equal(200);
  for (const path of ['/health/ready', '/v1/products/1', '/v1/products/changes', '/oauth/jwks']) {
    const { json, headers } = await expectRefusal(client.get(path), 'unavailable', path);
    expect(json.message, path).to.match(reason);
    expect(headers['retry-after'], path).to.match(/^\d+$/);
  }
  const credentials = `grant_type=client_credentials&client_id=1&client_secret=${FIRST_KEY}`;
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const token = await client.post('/oauth/token', credentials, { headers });
  expect([token.status, token.json.error]).to.deep.equal([503, 'temporarily_unavailable']);
}

describe('a service whose store opens after the wait of its first requests', () => {
  const state = serviceThatStartsLate(0);

  it('refuses nobody until it has numbered what was written without feeds, by the lease, and stored the first key', async () => {
    const { client, clock } = state;
    state.isNumbered = false;
    await expectUnready(state, /waits for its store/);
    state.open();
    await until('it numbers the records', () => state.number !== undefined);
    expect(state.holder).to.not.equal('');
    await expectUnready(state, /making derived data/);
    // Longer than STORE_START_TIMEOUT_SECONDS, which does not count it.
    clock.pass(7_200_000);
    state.number?.();
    await until('it stores the first key', () => state.storeFirstKey !== undefined);
    expect(state.holder).to.equal('');
    const failing = state.storeFirstKey;
    failing?.(unavailable('The store is away.'));
    await until('it tries again', () => state.storeFirstKey !== failing);
    await expectUnready(state, /waits for its store/);
    state.storeFirstKey?.();
    await state.started;
    for (const path of ['/health/ready', '/v1/products/1']) expect((await client.get(path)).status).to.equal(200);
  });
});

describe('a service whose store opens late', () => {
  const state = serviceThatStartsLate();

  it('handles the first requests then, but none whose client has disconnected or got 400 meanwhile', async () => {
    const { client } = state;
    const leaver = await client.connect();
    leaver.write(`DELETE /v1/products/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\n\r\n`);
    // Does not end its side when the service does.
    const malformed = await client.connect();
    malformed.allowHalfOpen = true;
    const head = `Host: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\nTransfer-Encoding: chunked\r\n`;
    const line = '{"name":"ghost"}\n';
    malformed.write(
      `POST /v1/products/imports HTTP/1.1\r\n${head}Content-Type: application/x-ndjson\r\n\r\n` +
        `${line.length.toString(16)}\r\n${line}\r\n`,
    );
    const read = client.get('/v1/products/1');
    // Whatever arrives before a probe is read before it.
    await probe(client);
    leaver.destroy();
    await probe(client);
    malformed.write('zz\r\n');
    const [refusal] = await once(malformed, 'data');
    // The connection is still open for a moment.
    state.open();
    expect(String(refusal)).to.match(/^HTTP\/1\.1 400 /);
    await until('it stores the first key', () => state.storeFirstKey !== undefined);
    state.storeFirstKey?.();
    const { managementPort } = await state.started;
    expect((await read).status).to.equal(200);
    expect((await client.get('/v1/products/1')).status).to.equal(200);
    const management = new HttpClient(managementPort, undefined, '');
    await until('no request is active', async () => {
      const metrics = new Scrape((await management.get('/metrics', { token: null })).text);
      expect(metrics.sum('http_server_active_requests')).to.equal(0);
    });
    management.close();
    expect((await client.get('/v1/products?name=ghost')).json).to.deep.equal([]);
    malformed.destroy();
  });
});
