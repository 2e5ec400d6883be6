import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { ChildProcessService } from '../support/child-process-service.js';
import { freePort } from '../support/free-port.js';
import { expectRefusal, HttpClient, type HttpResponse } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { LineStream } from '../support/line-stream.js';
import { NameServer } from '../support/name-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const QUOTA = 40;

/** Two instances with different IP addresses and the same ports, as in containers. */
const HOSTS = ['127.0.0.2', '127.0.0.3'];
/** The IP address of HAProxy. */
const PROXY = '127.0.0.1';
const OTHER_HOST = '127.0.0.9';

describe('HAProxy with config/haproxy.cfg, in front of two instances', () => {
  const folder = temporaryFolder();
  const instances: ChildProcessService[] = [];
  const hosts = [...HOSTS];
  const names = new NameServer(() => hosts);
  let proxy: ChildProcess;
  let client: HttpClient;
  let port: number;

  const startInstance = (HOST: string, ports: Record<string, string>) => {
    const instance = new ChildProcessService(folder, {
      TLS: 'proxy',
      TRUSTED_PROXIES: PROXY,
      HOST,
      MANAGEMENT_HOST: HOST,
      SQLITE_FILE: 'shared.sqlite',
      BOOTSTRAP_API_KEY: FIRST_KEY,
      RATE_LIMIT_REQUESTS: String(QUOTA),
      ...ports,
    });
    instances.push(instance);
    return instance;
  };
  const untilStatus = async (status: number) => {
    let response: HttpResponse | undefined;
    await until(`HAProxy responds with ${status}`, async () => {
      response = await client.get('/health/ready', { token: null });
      return response.status === status;
    });
    return response as HttpResponse;
  };

  before(async () => {
    try {
      execFileSync('haproxy', ['-v']);
    } catch {
      throw new Error('haproxy is missing; on Debian: apt-get install -y haproxy');
    }
    execFileSync('config/make-certificate.sh', { env: { ...process.env, CERTIFICATE_FOLDER: folder } });

    const [PORT, MANAGEMENT_PORT, https] = [await freePort(), await freePort(), await freePort()].map(String);
    const ports = { PORT: String(PORT), MANAGEMENT_PORT: String(MANAGEMENT_PORT) };
    for (const host of HOSTS) await startInstance(host, ports).prints(/in plain HTTP behind a proxy/);
    port = Number(PORT);

    const env = {
      PATH: process.env['PATH'],
      DNS_ADDRESS: await names.start(),
      HTTPS_ADDRESS: `${PROXY}:${https}`,
      CERTIFICATE_FILE: join(folder, 'server.pem'),
      SERVICE_PORT: PORT,
      MANAGEMENT_PORT,
    };
    execFileSync('haproxy', ['-c', '-f', 'config/haproxy.cfg'], { env });
    proxy = spawn('haproxy', ['-db', '-f', 'config/haproxy.cfg'], { env, stdio: 'ignore' });
    client = new HttpClient(Number(https), join(folder, 'localhost.pem'), FIRST_KEY);
    await untilStatus(200);
  });
  after(async () => {
    client?.close();
    names.stop();
    if (proxy?.exitCode === null) {
      proxy.kill('SIGKILL');
      await once(proxy, 'close');
    }
    for (const instance of instances) await instance.stop('SIGKILL');
  });

  it('serves HTTPS from both instances', async () => {
    const { headers, json } = await client.post('/v1/products', { name: 'Lamp' });
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => client.get(String(headers.location), { headers: { Connection: 'close' } })),
    );
    for (const response of responses) {
      expect([response.status, response.json]).to.deep.equal([200, { id: json.id, name: 'Lamp' }]);
      expect(response.headers['strict-transport-security']).to.equal('max-age=31536000');
    }
    for (const instance of instances) await instance.logs(/"route":"\/v1\/products\/\{id\}"[^\n]*"status":200/);
  });

  it('overwrites forged forwarding headers', async () => {
    const forgedHeaders = (i: number) => ({
      'X-Forwarded-Proto': 'http',
      'X-Forwarded-For': `192.0.2.${i}, ${PROXY}`,
      'x-forwarded-host': 'elsewhere',
      Forwarded: `for=192.0.2.${i};proto=http`,
    });
    expect((await client.get('/products', { headers: forgedHeaders(0) })).status).to.equal(200);
    const statuses: number[] = [];
    for (let i = 0; i < 3 * QUOTA; i++) {
      const options = { token: null, from: '127.0.0.7', headers: forgedHeaders(i) };
      statuses.push((await client.get('/nowhere', options)).status);
    }
    const served = statuses.filter((status) => status !== 429);
    expect(served.length, 'one quota for each instance').to.be.within(QUOTA, 2 * QUOTA);
    const headers = { 'X-Forwarded-For': '127.0.0.7' };
    const neighbour = await client.get('/nowhere', { token: null, from: '127.0.0.8', headers });
    expect(neighbour.status).to.equal(404);
  });

  it('passes an import and its results through line by line', async () => {
    const stream = new LineStream(client.startLines('/v1/products/imports'));
    for (let number = 1; number <= 3; number++) {
      await stream.send(`{"name":"line ${number}"}\n`);
      expect(await stream.next()).to.include({ line: number, status: 201 });
    }
    await stream.send('{"name":"many"}\n'.repeat(5_000));
    stream.end();
    const rest = await stream.rest();
    expect([rest.length, rest.at(-1).line]).to.deep.equal([5_000, 5_003]);
  });

  it('lets the service reject URIs and headers that are too large', async () => {
    expect((await client.get(`/products?x=${'1'.repeat(9_000)}`)).json.code).to.equal('uri_too_long');
    const { json } = await client.get('/products', { headers: { X: 'x'.repeat(17_000) } });
    expect(json.code).to.equal('headers_too_large');
  });

  it('is the only way to an instance: direct plain HTTP gets 403', async () => {
    const direct = new HttpClient(port, undefined, FIRST_KEY, HOSTS[0]);
    for (const headers of [{}, { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': PROXY }])
      await expectRefusal(direct.get('/v1/products', { from: OTHER_HOST, headers }), 'https_required');
    direct.close();
    const plain = new HttpClient(client.port, undefined, FIRST_KEY);
    const refused: HttpResponse | Error = await plain.get('/v1/products').catch((error: Error) => error);
    expect(refused).to.satisfy((got: HttpResponse | Error) => got instanceof Error || got.status === 400);
    plain.close();
  });

  it('loses no read if one instance stops, and responds 503 in the schema of the service if both are stopped', async () => {
    const request = async () => (await client.get('/health/live', { token: null })).status;
    const statuses: number[] = [];
    let isRequesting = true;
    const readers = Array.from({ length: 4 }, async () => {
      while (isRequesting) statuses.push(await request());
    });
    const more = async () => {
      const count = statuses.length + 100;
      await until('100 more requests have a response', () => statuses.length >= count);
    };
    await more();
    expect(await instances[0]?.stop()).to.deep.equal({ code: 0, signal: null });
    await more();
    isRequesting = false;
    await Promise.all(readers);
    expect(new Set(statuses)).to.deep.equal(new Set([200]));

    await instances[1]?.stop('SIGKILL');
    const response = await untilStatus(503);
    expect(response.json).to.have.all.keys('code', 'message', 'details');
    expect(response.json.code).to.equal('unavailable');
    expect(Number(response.headers['retry-after'])).to.be.greaterThan(0);
    expect(response.headers).to.include.keys('x-request-id', 'strict-transport-security', 'api-version');
  });
});
