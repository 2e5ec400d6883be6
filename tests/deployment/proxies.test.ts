import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { expect } from 'chai';
import { ChildProcessService } from '../support/child-process-service.js';
import { freePort } from '../support/free-port.js';
import { HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const PROXY = '127.0.0.1';
const QUOTA = 40;

interface Place {
  readonly folder: string;
  readonly https: number;
  readonly service: number;
}

/** How to start a proxy with its file under `deploy`, with other ports and another certificate. */
interface Proxy {
  readonly file: string;
  /** Each text of the file must occur. */
  readonly replace: (place: Place) => readonly (readonly [string, string])[];
  readonly command: (place: Place, file: string) => readonly string[];
  readonly startImport: (port: number, ca: Buffer) => Import;
}

interface Import {
  readonly request: Writable;
  readonly lines: AsyncIterator<string>;
  close(): void;
}

const PATH = '/v1/products/imports';
const IMPORT_HEADERS = { Authorization: `Bearer ${FIRST_KEY}`, 'Content-Type': 'application/x-ndjson' };

const importOverHttp1: Proxy['startImport'] = (port, ca) => {
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

const importOverHttp2: Proxy['startImport'] = (port, ca) => {
  const session = connect(`https://localhost:${port}`, { ca });
  const request = session.request({ ':method': 'POST', ':path': PATH, ...IMPORT_HEADERS });
  return { request, lines: linesOf(request), close: () => session.destroy() };
};

function linesOf(input: Readable): AsyncIterator<string> {
  return createInterface({ input })[Symbol.asyncIterator]();
}

const NAME = 'catalogue.example.com';
const PROXIES: Readonly<Record<string, Proxy>> = {
  nginx: {
    file: 'deploy/nginx/product-catalogue.conf',
    replace: ({ folder, https, service }) => [
      ['server 127.0.0.1:8443;', `server ${PROXY}:${service};`],
      ['listen 443 ssl;', `listen ${PROXY}:${https} ssl;`],
      ['  listen [::]:443 ssl;\n', ''],
      [`/etc/letsencrypt/live/${NAME}/fullchain.pem`, join(folder, 'server.pem')],
      [`/etc/letsencrypt/live/${NAME}/privkey.pem`, join(folder, 'server.pem')],
    ],
    command: ({ folder }, file) => {
      const main = join(folder, 'nginx.conf');
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const temp = paths.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n');
      writeFileSync(
        main,
        `daemon off; pid ${join(folder, 'nginx.pid')}; events {}\nhttp { access_log off; ${temp} include ${file}; }\n`,
      );
      return ['nginx', '-e', 'stderr', '-c', main];
    },
    startImport: importOverHttp1,
  },
  Caddy: {
    file: 'deploy/caddy/Caddyfile',
    replace: ({ folder, https, service }) => [
      ['reverse_proxy 127.0.0.1:8443 {', `reverse_proxy ${PROXY}:${service} {`],
      [
        `${NAME} {\n`,
        `https://localhost:${https} {\n\tbind ${PROXY}\n\ttls ${join(folder, 'server.pem')} ${join(folder, 'server.pem')}\n`,
      ],
      ['{\n\tservers {', '{\n\tadmin off\n\tauto_https disable_redirects\n\tservers {'],
    ],
    command: (_place, file) => ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'],
    // Over HTTP/1.1, Caddy 2.6 of Debian 12 reads the whole request before it passes on a response.
    startImport: importOverHttp2,
  },
};

for (const [name, proxy] of Object.entries(PROXIES))
  describe(`${name} with ${proxy.file}`, () => {
    const folder = temporaryFolder();
    let service: ChildProcessService;
    let running: ChildProcess;
    let log = '';
    let client: HttpClient;
    let port: number;

    before(async () => {
      execFileSync('config/make-certificate.sh', { env: { ...process.env, CERTIFICATE_FOLDER: folder } });
      service = new ChildProcessService(folder, {
        TLS: 'proxy',
        TRUSTED_PROXIES: PROXY,
        BOOTSTRAP_API_KEY: FIRST_KEY,
        RATE_LIMIT_REQUESTS: String(QUOTA),
      });
      port = Number((await service.prints(/port (\d+), in plain HTTP behind a proxy/))[1]);
      const place = { folder, https: await freePort(), service: port };
      let config = readFileSync(proxy.file, 'utf8');
      for (const [text, replacement] of proxy.replace(place)) {
        expect(config, `${proxy.file} contains ${text}`).to.include(text);
        config = config.replace(text, replacement);
      }
      const file = join(folder, 'proxy.conf');
      writeFileSync(file, config);
      const [command = '', ...args] = proxy.command(place, file);
      mkdirSync(join(folder, 'home'));
      running = spawn(command, args, {
        env: { PATH: process.env['PATH'], HOME: join(folder, 'home') },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      running.on('error', (error) => {
        log += `${error}; on Debian: apt-get install -y nginx-light caddy`;
      });
      running.stderr?.on('data', (chunk) => {
        log += chunk;
      });
      client = new HttpClient(place.https, join(folder, 'localhost.pem'), FIRST_KEY);
      const ready = async () => (await client.get('/health/ready', { token: null })).status === 200;
      await until(`${name} serves`, ready).catch((error) => {
        throw new Error(`${error}\n${log}`);
      });
    });
    after(async () => {
      client?.close();
      // SIGKILL would leave the worker of nginx behind.
      if (running?.kill('SIGTERM')) await once(running, 'close');
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
      const direct = new HttpClient(port, undefined, FIRST_KEY, PROXY);
      for (const headers of [{}, { 'X-Forwarded-Proto': 'https' }]) {
        const from = '127.0.0.9';
        const response = await direct.get('/v1/products', { from, headers });
        expect([response.status, response.json.code]).to.deep.equal([403, 'https_required']);
      }
      expect((await direct.get('/v1/products')).json.code, 'without X-Forwarded-Proto').to.equal(
        'https_required',
      );
      direct.close();
    });

    it('replaces forged forwarding headers by the address of the client', async () => {
      const forgedHeaders = (i: number) => ({
        'X-Forwarded-Proto': 'http',
        'X-Forwarded-For': `192.0.2.${i}, ${PROXY}`,
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
      const { request, lines, close } = proxy.startImport(
        client.port,
        readFileSync(join(folder, 'localhost.pem')),
      );
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
