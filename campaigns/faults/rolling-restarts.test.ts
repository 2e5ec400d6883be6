/**
 * Restarts three replicas on SQLite behind HAProxy with `config/haproxy.cfg` in turn, 12 restarts in all, while 300
 * requests a second arrive, whether responses come or not. One client reads an export at 1 KiB a second and one sends
 * nothing. No request fails, and no acknowledged creation is lost or made twice.
 *
 * HAProxy repeats a request to which it could not connect, and a read that got no byte of a response. A service listens
 * before its store is open: the first requests wait for the store, for at most two seconds.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Latencies } from '../../scripts/statistics.js';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import { freePort } from '../../tests/support/free-port.js';
import { HttpClient, type RequestOptions } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { NameServer } from '../../tests/support/name-server.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';

const figure = figuresOf('rolling-restarts');

const HOSTS = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];
const PROXY = '127.0.0.1';
const RESTARTS = 12;
/** At least so many; the load goes on until the last restart is over. */
const REQUESTS = 30_000;
/** Requests a second, whether responses come or not. */
const RATE = 300;
/** At most so many at a time, so that a machine that is too slow for the rate is not overloaded as well. */
const MAX_PENDING = 128;
/** The slow client keeps its instance waiting for this time, in which every other request ends. */
const GRACE_SECONDS = 10;
/** An export of these is larger than every buffer on its way, so its slow reader is noticed. */
const PRODUCTS = 20_000;
/** In bytes. Linux may let the buffers of a connection grow to 32 MiB, as much as several exports. */
const SMALL_BUFFERS = ['tune.rcvbuf.server 65536', 'tune.sndbuf.client 65536'];

describe('rolling restarts of three replicas behind HAProxy', () => {
  const folder = temporaryFolder();
  const names = new NameServer(() => HOSTS);
  const instances: ChildProcessService[] = [];
  const ends: Promise<unknown>[] = [];
  const statusSocket = join(folder, 'haproxy.socket');
  let environment: Record<string, string>;
  let proxy: ChildProcess;
  let client: HttpClient;
  let isOver = false;

  const start = async (at: number) => {
    const HOST = HOSTS[at] ?? '';
    const instance = new ChildProcessService(folder, { ...environment, HOST, MANAGEMENT_HOST: HOST });
    instances[at] = instance;
    await instance.prints(/in plain HTTP behind a proxy/);
    const ready = `http://${HOST}:${environment['MANAGEMENT_PORT']}/health/ready`;
    await until('the replica is ready', async () => (await fetch(ready)).ok);
  };

  /** Resolves when HAProxy has seen by its probes that every replica is ready. */
  const allServe = () =>
    until('HAProxy uses every replica', async () => {
      const servers = (await statusOf(statusSocket)).match(/^catalogue,instance\d+,(.*)$/gm) ?? [];
      return servers.filter((line) => line.includes(',UP,')).length === HOSTS.length;
    });

  before(async () => {
    try {
      execFileSync('haproxy', ['-v']);
    } catch {
      throw new Error('haproxy is missing; on Debian: apt-get install -y haproxy');
    }
    execFileSync('config/make-certificate.sh', { env: { ...process.env, CERTIFICATE_FOLDER: folder } });
    const [PORT, MANAGEMENT_PORT, https] = await Promise.all([freePort(), freePort(), freePort()]);
    environment = {
      TLS: 'proxy',
      TRUSTED_PROXIES: PROXY,
      SQLITE_FILE: 'shared.sqlite',
      LOG_LEVEL: 'warn',
      RATE_LIMIT_REQUESTS: '1000000',
      BOOTSTRAP_API_KEY: FIRST_KEY,
      SHUTDOWN_GRACE_SECONDS: `${GRACE_SECONDS}`,
      PORT: `${PORT}`,
      MANAGEMENT_PORT: `${MANAGEMENT_PORT}`,
    };
    await Promise.all(HOSTS.map((_, at) => start(at)));
    const env = {
      PATH: process.env['PATH'],
      DNS_ADDRESS: await names.start(),
      HTTPS_ADDRESS: `${PROXY}:${https}`,
      CERTIFICATE_FILE: join(folder, 'server.pem'),
      SERVICE_PORT: `${PORT}`,
      MANAGEMENT_PORT: `${MANAGEMENT_PORT}`,
    };
    const more = join(folder, 'more.cfg');
    writeFileSync(more, `${['global', ...SMALL_BUFFERS, `stats socket ${statusSocket}`].join('\n  ')}\n`);
    proxy = spawn('haproxy', ['-db', '-f', 'config/haproxy.cfg', '-f', more], { env, stdio: 'ignore' });
    client = new HttpClient(https, join(folder, 'localhost.pem'), FIRST_KEY);
    await allServe();
    const description = 'd'.repeat(500);
    const lines = Array.from(
      { length: PRODUCTS },
      (_, at) => `${JSON.stringify({ name: `Lamp ${at}`, description })}\n`,
    ).join('');
    const headers = { 'Content-Type': 'application/x-ndjson' };
    await client.post('/v1/products/imports', lines, { headers });
  });
  after(async () => {
    isOver = true;
    await Promise.all(ends);
    client?.close();
    names.stop();
    if (proxy?.exitCode === null) {
      proxy.kill('SIGKILL');
      await once(proxy, 'close');
    }
    await Promise.all(instances.map((instance) => instance.stop('SIGKILL')));
  });

  it('fail no request, and each replica exits although a client reads slowly', async () => {
    const failures: string[] = [];
    const created = new Set<number>();
    let doubled = 0;
    const send = async (number: number) => {
      const expectStatus = async (status: number, method: string, path: string, options?: RequestOptions) => {
        const response = await client.request(method, path, options);
        if (response.status !== status) throw new Error(`${response.status} ${response.text.slice(0, 100)}`);
        return response;
      };
      // No request has an idempotency key, so each lost response is a failure.
      if (number % 5 === 0) {
        const { json } = await expectStatus(201, 'POST', '/v1/products', { body: { name: `new ${number}` } });
        doubled += Number(created.has(json.id));
        created.add(json.id);
      } else if (number % 5 === 1) {
        const path = `/v1/products/${1 + (number % PRODUCTS)}`;
        await expectStatus(200, 'PATCH', path, {
          body: { description: `${number}` },
        });
      } else if (number % 5 === 2) await expectStatus(200, 'GET', '/v1/products?limit=10');
      else await expectStatus(200, 'GET', `/v1/products/${1 + (number % PRODUCTS)}`);
    };
    const pending = new Set<Promise<void>>();
    const times = new Latencies();
    const begin = performance.now();
    let sent = 0;
    let isRestarting = true;
    const load = (async () => {
      while (!isOver && (sent < REQUESTS || isRestarting)) {
        for (
          const due = ((performance.now() - begin) / 1_000) * RATE;
          sent < due && pending.size < MAX_PENDING;
          sent++
        ) {
          const number = sent;
          const dueAt = begin + (number / RATE) * 1_000;
          const outcome = send(number)
            .then(() => times.add(performance.now() - dueAt))
            .catch((error) => void failures.push(`${number % 5} ${Math.round(performance.now() - begin)} ms: ${error}`))
            .finally(() => pending.delete(outcome));
          pending.add(outcome);
        }
        await sleep(3);
      }
      await Promise.all(pending);
    })();
    ends.push(readSlowly(), staySilent());

    const exits: number[] = [];
    for (let restart = 0; restart < RESTARTS; restart++) {
      const instance = instances[restart % HOSTS.length];
      const stopAt = performance.now();
      const { code } = (await instance?.stop()) ?? {};
      exits.push(performance.now() - stopAt);
      expect(code, `restart ${restart}: ${instance?.log.slice(-500)}`).to.equal(0);
      await start(restart % HOSTS.length);
      await allServe();
    }
    const restartsMs = performance.now() - begin;
    isRestarting = false;
    await load;
    const stored = await client.get('/v1/products?name.prefix=new', {
      headers: { Accept: 'application/x-ndjson' },
    });
    const ids = new Set(
      stored.text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).id),
    );
    const lost = [...created].filter((id) => !ids.has(id));

    figure('requests', sent);
    figure('restarts', exits.length);
    figure('all restarts', restartsMs / 1_000, 's');
    figure('failed', failures.length);
    figure('acknowledged creations lost', lost.length);
    figure('created without a response', ids.size - created.size);
    figure('p99', times.quantile(0.99), 'ms');
    figure('slowest', times.quantile(1), 'ms');
    figure('slowest exit', Math.max(...exits), 'ms');
    expect(failures.slice(0, 20)).to.deep.equal([]);
    expect([lost, doubled, ids.size]).to.deep.equal([[], 0, created.size]);
    expect(Math.max(...exits), 'the slow reader is waited for').to.be.above(GRACE_SECONDS * 900);
  }).timeout(600_000);

  /** Exports all products at 1 KiB a second. An instance that stops cuts it off after its grace; then it begins again. */
  async function readSlowly(): Promise<void> {
    while (!isOver) {
      const sent = request({
        host: 'localhost',
        port: client.port,
        path: '/v1/products',
        rejectUnauthorized: false,
        agent: false,
        headers: { Authorization: `Bearer ${FIRST_KEY}`, Accept: 'application/x-ndjson' },
      });
      sent.on('error', () => {}).end();
      await new Promise<void>((done) => {
        sent.once('response', async (response) => {
          response.once('error', () => done());
          while (!isOver && !response.readableEnded && !response.destroyed) {
            response.read(512);
            await sleep(500);
          }
          sent.destroy();
          done();
        });
        sent.once('close', () => done());
      });
      await sleep(50);
    }
  }

  /** Keeps a connection that sends nothing. HAProxy ends it after 10 seconds; then it opens another one. */
  async function staySilent(): Promise<void> {
    while (!isOver) {
      const socket = await client.connect().catch(() => undefined);
      socket?.on('error', () => {}).resume();
      while (!isOver && socket && !socket.destroyed) await sleep(100);
      socket?.destroy();
      await sleep(50);
    }
  }
});

/** Returns the table of servers that HAProxy prints at its socket. */
async function statusOf(socket: string): Promise<string> {
  const connection = connect(socket).setEncoding('utf8');
  connection.end('show stat\n');
  let text = '';
  for await (const chunk of connection) text += chunk;
  return text;
}
