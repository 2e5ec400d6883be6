import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { memoryStorage } from '#src/adapters/outbound/memory/storage.js';
import { composeWith } from '#src/composition/application.js';
import { memoryRateLimits } from '#src/composition/rate-limits.js';
import { loadSettings } from '#src/config/settings.js';
import { Service } from '#src/process/service.js';
import { product } from '../contract/repository/records.js';
import { freePort } from '../support/free-port.js';
import { HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { Scrape } from '../support/scrape.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/**
 * A service whose store opens, and takes the first key, when a test says so.
 * @param firstRequestsWaitMs no slow machine reaches the default
 */
function serviceThatStartsLate(firstRequestsWaitMs = 600_000) {
  const folder = temporaryFolder();
  const state = {
    open: () => {},
    storeFirstKey: undefined as (() => void) | undefined,
  } as {
    open(): void;
    /** Undefined before the service stores the first key. */
    storeFirstKey: (() => void) | undefined;
    client: HttpClient;
    started: ReturnType<Service['start']>;
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
      BOOTSTRAP_API_KEY: FIRST_KEY,
    };
    const application = composeWith({
      settings: loadSettings(settings),
      makeParts: memoryStorage,
      makeRateLimits: memoryRateLimits,
    });
    const { store, apiKeys, products } = application.storage;
    store.open = () => new Promise((resolve) => (state.open = resolve));
    const insertKeys = apiKeys.insertAll.bind(apiKeys);
    apiKeys.insertAll = async (keys) => {
      await new Promise<void>((resolve) => (state.storeFirstKey = resolve));
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

describe('a service whose store opens after the wait of its first requests', () => {
  const state = serviceThatStartsLate(0);

  it('refuses no key while it stores the first one, and is ready then', async () => {
    const { client } = state;
    const statusOf = async (path: string) => (await client.get(path)).status;
    // The response shows that requests wait no longer. A store that is not open would make it 503.
    await statusOf('/v1/products/1');
    expect(await statusOf('/health/ready')).to.equal(503);
    state.open();
    await until('it stores the first key', () => state.storeFirstKey !== undefined);
    expect(await statusOf('/health/ready')).to.equal(503);
    const read = statusOf('/v1/products/1');
    await probe(client);
    state.storeFirstKey?.();
    await state.started;
    expect(await statusOf('/health/ready')).to.equal(200);
    expect(await read).to.equal(200);
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
