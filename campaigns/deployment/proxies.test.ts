import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { expect } from 'chai';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { HttpClient } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import {
  caddy,
  LOOPBACK,
  nginx,
  type ReverseProxy,
  RunningProxy,
  shippedCaddy,
  shippedNginx,
} from '../../tests/support/reverse-proxies.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';

const QUOTA = 40;

/** A proxy with its file under `deploy`. */
interface Shipped {
  readonly file: string;
  readonly proxy: ReverseProxy;
  readonly startImport: (port: number, ca: Buffer) => Import;
}

interface Import {
  readonly request: Writable;
  readonly lines: AsyncIterator<string>;
  close(): void;
}

const PATH = '/v1/products/imports';
const IMPORT_HEADERS = { Authorization: `Bearer ${FIRST_KEY}`, 'Content-Type': 'application/x-ndjson' };

const importOverHttp1: Shipped['startImport'] = (port, ca) => {
  const request = httpsRequest({
    host: 'localhost',
    port,
    ca,
    method: 'POST',
    path: PATH,
    headers: IMPORT_HEADERS,
  });
  const results = new PassThrough();
  request.on('response', (response) => response.pipe(results));
  return { request, lines: linesOf(results), close: () => request.destroy() };
};

const importOverHttp2: Shipped['startImport'] = (port, ca) => {
  const session = connect(`https://localhost:${port}`, { ca });
  const request = session.request({ ':method': 'POST', ':path': PATH, ...IMPORT_HEADERS });
  return { request, lines: linesOf(request), close: () => session.destroy() };
};

function linesOf(input: Readable): AsyncIterator<string> {
  return createInterface({ input })[Symbol.asyncIterator]();
}

const PROXIES: Readonly<Record<string, Shipped>> = {
  nginx: {
    file: 'deploy/nginx/product-catalogue.conf',
    proxy: nginx(shippedNginx),
    startImport: importOverHttp1,
  },
  Caddy: {
    file: 'deploy/caddy/Caddyfile',
    proxy: caddy(shippedCaddy),
    // Over HTTP/1.1, Caddy 2.6 of Debian 12 reads the whole request before it passes on a response.
    startImport: importOverHttp2,
  },
};

for (const [name, { file, proxy, startImport }] of Object.entries(PROXIES))
  describe(`${name} with ${file}`, () => {
    const folder = temporaryFolder();
    let service: ChildProcessService;
    let running: RunningProxy;
    let client: HttpClient;
    let port: number;

    before(async () => {
      service = new ChildProcessService(folder, {
        TLS: 'proxy',
        TRUSTED_PROXIES: LOOPBACK,
        BOOTSTRAP_API_KEY: FIRST_KEY,
        RATE_LIMIT_REQUESTS: String(QUOTA),
      });
      port = Number((await service.prints(/port (\d+), in plain HTTP behind a proxy/))[1]);
      running = await RunningProxy.start(proxy, folder, { port });
      client = running.client;
    });
    after(async () => {
      await running?.stop();
      await service?.stop();
    });

    it('serves lists and creations, and keeps the request id', async () => {
      const headers = { 'X-Request-Id': 'made-by-the-client' };
      const created = await client.post('/v1/products', { name: 'Lamp' }, { headers });
      expect([created.status, created.headers['x-request-id']]).to.deep.equal([201, 'made-by-the-client']);
      const list = await client.get('/v1/products');
      expect([list.status, list.json.length]).to.deep.equal([200, 1]);
      expect(list.headers['strict-transport-security']).to.equal('max-age=31536000');
    });

    it('is the only way to the service', async () => {
      const direct = new HttpClient(port, undefined, FIRST_KEY, LOOPBACK);
      for (const headers of [{}, { 'X-Forwarded-Proto': 'https' }]) {
        const from = '127.0.0.9';
        const response = await direct.get('/v1/products', { from, headers });
        expect([response.status, response.json.code]).to.deep.equal([403, 'https_required']);
      }
      expect((await direct.get('/v1/products')).json.code, 'without X-Forwarded-Proto').to.equal('https_required');
      direct.close();
    });

    it('replaces forged forwarding headers by the address of the client', async () => {
      const forgedHeaders = (i: number) => ({
        'X-Forwarded-Proto': 'http',
        'X-Forwarded-For': `192.0.2.${i}, ${LOOPBACK}`,
        Forwarded: `for=192.0.2.${i};proto=http`,
      });
      const statuses: number[] = [];
      for (let i = 0; i < 2 * QUOTA; i++) {
        const options = { token: null, from: '127.0.0.7', headers: forgedHeaders(i) };
        statuses.push((await client.get('/nowhere', options)).status);
      }
      expect(statuses.filter((status) => status === 404)).to.have.length(QUOTA);
      const neighbour = { token: null, from: '127.0.0.8', headers: { 'X-Forwarded-For': '127.0.0.7' } };
      expect((await client.get('/nowhere', neighbour)).status).to.equal(404);
    });

    it('passes an import and its results through line by line', async () => {
      const { request, lines, close } = startImport(client.port, readFileSync(join(folder, 'localhost.pem')));
      for (let number = 1; number <= 3; number++) {
        request.write(`{"name":"line ${number}"}\n`);
        expect(JSON.parse((await lines.next()).value)).to.include({ line: number, status: 201 });
      }
      request.end('{"name":"many"}\n'.repeat(20_000));
      let last = '';
      for await (const line of { [Symbol.asyncIterator]: () => lines }) last = line;
      expect(JSON.parse(last)).to.include({ line: 20_003, status: 201 });
      close();
    });

    it('passes a long export through', async () => {
      const response = await client.get('/v1/products', { headers: { Accept: 'application/x-ndjson' } });
      expect(response.text.trim().split('\n')).to.have.length(20_004);
    });

    it('lets the service reject URIs, headers and bodies that are too large', async () => {
      expect((await client.get(`/v1/products?x=${'1'.repeat(9_000)}`)).json.code).to.equal('uri_too_long');
      const headers = { X: 'x'.repeat(17_000) };
      expect((await client.get('/v1/products', { headers })).json.code).to.equal('headers_too_large');
      const body = { name: 'x'.repeat(2_000_000) };
      expect((await client.post('/v1/products', body)).json.code).to.equal('payload_too_large');
    });

    it('responds 503 in the schema of the service if the service is stopped', async () => {
      await service.stop();
      const response = await client.get('/v1/products');
      expect([response.status, response.json.code]).to.deep.equal([503, 'unavailable']);
      expect(response.json).to.have.all.keys('code', 'message', 'details');
      expect(Number(response.headers['retry-after'])).to.be.greaterThan(0);
      expect(response.headers).to.include.keys('x-request-id', 'strict-transport-security', 'api-version');
    });
  });
