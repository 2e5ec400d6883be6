import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { chain } from '../support/certificate-chain.js';
import { ChildProcessService, catalogue } from '../support/child-process-service.js';
import { expectRefusal, HttpClient, received } from '../support/http-client.js';
import { sized } from '../support/run-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { everyProduct } from '../support/workers.js';

const ROUNDS = sized({ gate: 3, night: 6 });
/** No request is cut off, however slow the machine is. */
const PATIENT = { SHUTDOWN_GRACE_SECONDS: '3600' };

describe('the program', () => {
  const root = temporaryFolder();
  const running: ChildProcessService[] = [];
  const folder = () => mkdtempSync(join(root, 'run-'));
  const start = (where = folder(), environment: Record<string, string> = {}) => {
    const service = new ChildProcessService(where, environment);
    running.push(service);
    return service;
  };
  afterEach(async () => {
    for (const service of running.splice(0)) await service.stop('SIGKILL');
  });

  describe('at its first start', () => {
    it('serves if its standard output is closed', async () => {
      const service = start();
      service.closeOutput();
      await service.logs(/"msg":"started"/);
      expect(await service.stop()).to.deep.equal({ code: 0, signal: null });
    });

    it('uses BOOTSTRAP_API_KEY as the first key, and prints none', async () => {
      const key = newApiKey();
      const service = start(folder(), { BOOTSTRAP_API_KEY: key });
      const client = await service.started(key);
      expect((await client.get('/products')).status).to.equal(200);
      expect(service.out + service.log).to.not.include('pcs_');
      client.close();
    });
  });

  it('prints its IP address and port behind a proxy, and no example request', async () => {
    const service = start(folder(), { TLS: 'proxy', TRUSTED_PROXIES: '10.0.0.1', PUBLIC_READ: 'products' });
    await service.prints(/shown this once: \S+\n/);
    expect(service.out)
      .to.match(/listens on 127\.0\.0\.1, port \d+, in plain HTTP behind a proxy/)
      .and.to.include('what comes from 10.0.0.1 with X-Forwarded-Proto: https')
      .and.to.include('Reading products needs no key.')
      .and.to.not.include('curl');
    expect(existsSync(join(service.folder, 'data/tls'))).to.equal(false);
  });

  describe('on a signal to stop', () => {
    const begin = async (client: HttpClient, token: string, request: string, ...headers: string[]) => {
      const socket = await client.connect();
      const all = ['Host: x', `Authorization: Bearer ${token}`, 'X-Forwarded-Proto: https', ...headers];
      return {
        socket,
        send: (body: string) => socket.write(`${request} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`),
      };
    };

    /** Sends the first half of a request, which the service begins to handle. */
    const slowPost = async (client: HttpClient, service: ChildProcessService) => {
      const headers = ['Content-Type: application/json', 'Content-Length: 15'];
      const { socket, send } = await begin(client, service.firstKey, 'POST /products', ...headers);
      send('{"name"');
      await service.worksOn(1);
      return socket;
    };

    /** Begins an import and receives its first result. @returns its connection */
    const slowImport = async (client: HttpClient) => {
      const headers = ['Content-Type: application/x-ndjson', 'Transfer-Encoding: chunked'];
      const { socket, send } = await begin(client, client.token, 'POST /v1/products/imports', ...headers);
      send('d\r\n{"name":"x"}\n\r\n');
      for (let text = ''; !text.includes('"status":201'); ) text += await once(socket, 'data');
      return socket;
    };

    for (const [transport, environment] of [
      ['HTTPS', {}],
      ['plain HTTP behind a proxy', { TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1' }],
    ] as const)
      it(`finishes pending requests, closes idle connections, and exits with 0: ${transport}`, async () => {
        const service = start(folder(), { ...PATIENT, ...environment });
        const [, port] = await service.prints(/port (\d+), in plain HTTP[\s\S]*shown this once|Try it:/);
        const client = port ? new HttpClient(Number(port), undefined, service.firstKey) : await service.started();
        await client.get('/products', { headers: { 'X-Forwarded-Proto': 'https' } });
        const idleEnded = received(await client.connect());
        const slow = await slowPost(client, service);
        service.kill('SIGTERM');
        await idleEnded;
        slow.write(':"Lamp"}');
        expect(await received(slow)).to.match(/^HTTP\/1\.1 201 Created\r\n.*\r\nConnection: close\r\n/s);
        expect(await service.exit).to.deep.equal({ code: 0, signal: null });
        expect(service.log).to.include('"msg":"stopped"');
      });

    it('responds to every committed write under load', async () => {
      const where = folder();
      const key = newApiKey();
      let acknowledged = 0;
      // A response is lost only by chance, so the test repeats the shutdown.
      for (let round = 1; round <= ROUNDS; round++) {
        const service = start(where, { ...PATIENT, BOOTSTRAP_API_KEY: key });
        const client = await service.started(key);
        const writers = Array.from({ length: 60 }, async () => {
          for (;;) if ((await client.post('/products', { name: 'x' })).status === 201) acknowledged++;
        });
        const ended = Promise.allSettled(writers);
        await until('400 more writes are acknowledged', () => acknowledged >= round * 400);
        expect((await service.stop()).code).to.equal(0);
        await ended;
        client.close();
      }
      const restarted = await start(where).started(key);
      expect((await everyProduct(restarted)).size).to.equal(acknowledged);
      restarted.close();
    });

    it('is live but not ready until it ends', async () => {
      const service = start(folder(), PATIENT);
      const client = await service.started();
      // Connections that are idle are closed, and those with a running import are not.
      const late = await Promise.all([slowImport(client), slowImport(client)]);
      service.kill('SIGTERM');
      await service.drains();
      const [ready, live] = await Promise.all(
        (['ready', 'live'] as const).map((probe, at) => {
          const responses = received(late[at] as Socket);
          late[at]?.write(`0\r\n\r\nGET /health/${probe} HTTP/1.1\r\nHost: x\r\n\r\n`);
          return responses;
        }),
      );
      expect(ready).to.match(/HTTP\/1\.1 503 .*\r\nRetry-After: \d+\r\n/s);
      expect(live).to.match(/HTTP\/1\.1 200 [\s\S]*\{"status":"ok"\}/);
      expect((await service.exit).code).to.equal(0);
    });

    it('responds on its management port until the last request is finished', async () => {
      // If an idle connection of a probe delayed the exit, this test would time out.
      const service = start(folder(), PATIENT);
      const slow = await slowPost(await service.started(), service);
      const management = new HttpClient(await service.managementPort(), undefined, '');
      expect((await management.get('/health/ready')).status).to.equal(200);
      service.kill('SIGTERM');
      await service.drains();
      expect((await management.get('/health/ready')).json.code).to.equal('unavailable');
      expect((await management.get('/health/live')).status).to.equal(200);
      expect((await management.get('/metrics')).status).to.equal(200);
      slow.write(':"Lamp"}');
      expect(await received(slow)).to.match(/^HTTP\/1\.1 201 /);
      expect(await service.exit).to.deep.equal({ code: 0, signal: null });
      management.close();
    });

    it('aborts pending requests after SHUTDOWN_GRACE_SECONDS', async () => {
      const service = start(folder(), { SHUTDOWN_GRACE_SECONDS: '1' });
      const slow = await slowPost(await service.started(), service);
      const cut = received(slow);
      expect((await service.stop()).code).to.equal(0);
      expect(await cut).to.equal('');
      expect(service.log).to.include('cut off');
    });

    it('sent twice, exits immediately', async () => {
      const service = start(folder(), PATIENT);
      await slowPost(await service.started(), service);
      service.kill('SIGTERM');
      await service.drains();
      expect((await service.stop('SIGTERM')).code).to.equal(143);
    });

    it('sent as SIGINT, exits with 0', async () => {
      const service = start();
      await service.started();
      expect((await service.stop('SIGINT')).code).to.equal(0);
    });
  });

  describe('if it cannot start', () => {
    it('prints one line for each invalid setting and exits with 78, in every command', async () => {
      const service = start(folder(), { PORT: '99999', STORE: 'paper' });
      expect((await service.exit).code).to.equal(78);
      expect(service.log.trim().split('\n')).to.have.length(2);
      expect(service.out).to.equal('');
      expect((await catalogue(folder(), ['keys', 'list'], { STORE: 'x' })).code).to.equal(78);
    });

    it('is live and not ready while it waits for its store, and then exits with 75', async () => {
      const where = folder();
      const service = start(where, { SQLITE_FILE: '/dev/null/x.sqlite', STORE_START_TIMEOUT_SECONDS: '3', PORT: '0' });
      await service.logs(/the store cannot be reached yet/);
      const [, port] = await service.logs(/"port":(\d+)[^\n]*"msg":"listening"/);
      const client = new HttpClient(Number(port), join(where, 'data/tls/ca.pem'), newApiKey());
      expect((await client.get('/health/live', { token: null })).status).to.equal(200);
      for (const path of ['/health/ready', '/products']) {
        const response = await expectRefusal(client.get(path), 'unavailable', path);
        expect(Number(response.headers['retry-after'])).to.be.greaterThan(0);
      }
      client.close();
      expect((await service.exit).code).to.equal(75);
      expect(service.out).to.not.include('pcs_');
    });

    it('says beside its address that the certificate of its files has expired', async () => {
      const where = folder();
      const { cert, key } = await chain('EC', { from: Date.UTC(2020, 0, 1), to: Date.UTC(2020, 2, 31) });
      writeFileSync(join(where, 'cert.pem'), cert);
      writeFileSync(join(where, 'key.pem'), key);
      const files = { TLS: 'files', TLS_CERT_FILE: 'cert.pem', TLS_KEY_FILE: 'key.pem' };
      const service = start(where, files);
      await service.prints(
        /with the certificate cert\.pem\.\nThe certificate expired on 2020-03-31: clients refuse it\.\n/,
      );
      expect((await service.stop()).code).to.equal(0);
    });

    it('exits with 78 and one line if its certificate files cannot be used', async () => {
      const files = { TLS: 'files', TLS_CERT_FILE: 'absent.pem', TLS_KEY_FILE: 'key.pem', LOG_LEVEL: 'warn' };
      const service = start(folder(), files);
      expect([(await service.exit).code, service.out, service.log]).to.deep.equal([
        ...[78, ''],
        'TLS_CERT_FILE: the certificate absent.pem cannot be read: no such file or directory (ENOENT)\n',
      ]);
    });
  });
});
