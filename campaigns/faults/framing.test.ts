/**
 * Sends each case of `framing-cases.ts` in one packet, cut at every kind of place, in pieces of 1 to 7 bytes, over TLS,
 * and through HAProxy and nginx with the configurations of this repository. Behind each case comes a well-formed
 * request, which must be answered exactly once, or never if the connection closes. Each request has its own
 * `X-Request-Id`, so responses and log lines decide. Through a proxy, another client sends requests at the same time
 * and must never get the response to a case. Every case is also followed by a reset of the connection, before and
 * during the response.
 *
 * What Node's parser decides: `RTSP/1.0` is read as `HTTP/1.0`, and several spaces in a request line as one. An unknown
 * method is 405, or 400 if its request line arrives in pieces.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as netConnect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as tlsConnect } from 'node:tls';
import { expect } from 'chai';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import { FRAMING_CASES, type FramingCase, NEXT } from '../../tests/support/framing-cases.js';
import { type Exchange, exchange, faultsOf, idOf, whole } from '../../tests/support/framing-exchange.js';
import { freePort } from '../../tests/support/free-port.js';
import { HttpClient } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { NameServer } from '../../tests/support/name-server.js';
import { documentedResponses } from '../../tests/support/openapi/described.js';
import { inParallel } from '../../tests/support/parallel-limits.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';

const figure = figuresOf('framing');

const LOOPBACK = '127.0.0.1';
const CONNECTIONS = 24;
/** Cuts of one case, each sent over a connection of its own. */
const MAX_CUTS = 12;
const ENVIRONMENT = {
  TLS: 'proxy',
  TRUSTED_PROXIES: LOOPBACK,
  STORE: 'memory',
  BOOTSTRAP_API_KEY: FIRST_KEY,
};

const cutAt = (at: number) => (bytes: Buffer) => [bytes.subarray(0, at), bytes.subarray(at)];

/** Around every line end, colon and space of the case's own bytes, and around their end: at most `MAX_CUTS` of them. */
function cutsOf({ bytes, isLast }: FramingCase): number[] {
  const places = [...bytes.matchAll(/[\r\n: ;\0\t]/g)].flatMap(({ index }) => [index, index + 1]);
  // The headers of every case begin alike. What is special comes behind them.
  const own = [...new Set(places)].filter((at) => at > 0 && at < bytes.length && (at < 40 || at > 150));
  const step = Math.max(1, Math.ceil(own.length / MAX_CUTS));
  const chosen = own.filter((_, index) => index % step === 0);
  return isLast ? chosen : [...chosen, bytes.length];
}

/** Pieces of 1 to 7 bytes of the end of the case's bytes, where its body is; one piece of all before. */
function smallPieces(bytes: Buffer): Buffer[] {
  const start = Math.max(0, bytes.length - NEXT.length - 120);
  const pieces = start > 0 ? [bytes.subarray(0, start)] : [];
  for (let at = start, size = 1; at < bytes.length; at += size, size = (size * 3 + 1) % 7 || 1)
    pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

/** How often the log of a service names each request id. */
function loggedIds(log: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [, id = ''] of log.matchAll(/"requestId":"([^"]+)"[^\n]*"route":/g))
    counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** @returns what the service did that no client asked for */
function desynchronised(exchanges: readonly Exchange[], counts: ReadonlyMap<string, number>): string[] {
  return exchanges.flatMap(({ tested, number, how, responses }) => {
    const logged = (name: string) => counts.get(`${name}-${number}`) ?? 0;
    const answered = (name: string) => responses.filter((response) => idOf(response) === `${name}-${number}`).length;
    const sent = tested.bytes.split('first-NNNNNN').length - 1;
    const lost = ['third', 'next'].filter((name) => logged(name) > 1 || logged(name) !== answered(name));
    return [
      ...lost.map((name) => `${name}: ${logged(name)} logged, ${answered(name)} answered`),
      ...(logged('hidden') > 0 ? ['a body was read as a request'] : []),
      ...(logged('first') > sent ? ['the first request was read more than once'] : []),
    ].map((fault) => `${tested.title} (${how}): ${fault}`);
  });
}

let ends = 0;

/** Sends requests until the log has the last one, so that it has all others too. */
async function untilLogged(service: ChildProcessService, client: HttpClient): Promise<void> {
  const id = `end-${++ends}`;
  await client.get('/nowhere', { headers: { 'X-Request-Id': id, 'X-Forwarded-Proto': 'https' } });
  await service.logs(new RegExp(id));
}

function expectNone(title: string, faults: readonly string[]): void {
  expect(faults, `${faults.length} ${title}:\n${faults.slice(0, 20).join('\n')}`).to.have.length(0);
}

describe('bytes that no HTTP client sends', function () {
  this.timeout(600_000);
  const folder = temporaryFolder();
  const tlsFolder = temporaryFolder();
  let service: ChildProcessService;
  let tlsService: ChildProcessService;
  let direct: HttpClient;
  let overTls: HttpClient;

  before(async () => {
    service = new ChildProcessService(folder, ENVIRONMENT);
    tlsService = new ChildProcessService(tlsFolder, {
      ...ENVIRONMENT,
      TLS: 'self-signed',
      TRUSTED_PROXIES: '',
    });
    const [, port] = await service.prints(/port (\d+), in plain HTTP behind a proxy/);
    direct = new HttpClient(Number(port), undefined, FIRST_KEY);
    direct.documented = documentedResponses(ENVIRONMENT);
    await tlsService.listening();
    overTls = new HttpClient(await tlsService.listening(), join(tlsFolder, 'data/tls/ca.pem'), FIRST_KEY);
    for (const client of [direct, overTls])
      await client.post('/v1/products', { name: 'Lamp' }, { headers: { 'X-Forwarded-Proto': 'https' } });
  });
  after(async () => {
    direct?.close();
    overTls?.close();
    await Promise.all([service?.stop('SIGKILL'), tlsService?.stop('SIGKILL')]);
  });

  /** Runs all exchanges of a connection kind, then compares the responses and the log with what is expected. */
  const expectSynchronised = async (
    target: ChildProcessService,
    client: HttpClient,
    runs: readonly (() => Promise<Exchange>)[],
  ) => {
    const exchanges: Exchange[] = [];
    await inParallel(CONNECTIONS, runs, async (run) => {
      exchanges.push(await run());
    });
    await untilLogged(target, client);
    const faults = exchanges.flatMap((one) =>
      faultsOf(one).map((fault) => `${one.tested.title} (${one.how}): ${fault}`),
    );
    const wild = desynchronised(exchanges, loggedIds(target.log));
    figure('connections', exchanges.length);
    figure('unexpected responses', faults.length);
    figure('desynchronised', wild.length);
    expectNone('unexpected responses', faults);
    expectNone('desynchronised connections', wild);
  };

  it('get the expected responses in one packet and over several, and so does the request behind them', async () => {
    const open = () => netConnect(direct.port, LOOPBACK);
    figure('cases', FRAMING_CASES.length);
    expect(FRAMING_CASES.length).to.be.at.least(400);
    expect(new Set(FRAMING_CASES.map(({ title }) => title)).size, 'titles').to.equal(FRAMING_CASES.length);
    const runs = FRAMING_CASES.flatMap((tested) => [
      () => exchange(tested, open, 'whole', whole),
      () => exchange(tested, open, 'in small pieces', smallPieces),
      ...cutsOf(tested).map((at) => () => exchange(tested, open, `cut at ${at}`, cutAt(at))),
    ]);
    await expectSynchronised(service, direct, runs);
  });

  it('leave the service running if the client resets the connection before or during the response', async () => {
    const resets = FRAMING_CASES.flatMap((tested) =>
      [false, true].map((waits) => async () => {
        // Half open, so that the reset also comes behind the end of the service's side.
        const options = { port: direct.port, host: LOOPBACK, allowHalfOpen: true };
        const socket = netConnect(options)
          .on('error', () => {})
          .on('data', () => {});
        await new Promise((done) => socket.write(`${tested.bytes}${NEXT}`, 'latin1', done));
        await sleep(waits ? 20 : 0);
        socket.resetAndDestroy();
      }),
    );
    await inParallel(CONNECTIONS, resets, (reset) => reset());
    await untilLogged(service, direct);
    figure('resets', resets.length);
    expect(service.log).to.not.include('"level":"error"');
  });

  it('get the expected responses over TLS', async () => {
    const ca = readFileSync(join(tlsFolder, 'data/tls/ca.pem'));
    const open = () => tlsConnect({ host: 'localhost', port: overTls.port, ca, servername: 'localhost' });
    const runs = FRAMING_CASES.map((tested) => () => exchange(tested, open, 'over TLS', whole));
    await expectSynchronised(tlsService, overTls, runs);
  });
});

interface Proxy {
  readonly name: string;
  readonly packages: string;
  /** Writes what the proxy needs into a folder. @returns its command and environment */
  prepare(place: Place): Promise<{ command: readonly string[]; env: Record<string, string> }>;
}

interface Place {
  readonly folder: string;
  readonly https: number;
  readonly service: number;
  readonly management: number;
  /** A name server that knows the address of the service. */
  readonly names: string;
}

const PROXIES: readonly Proxy[] = [
  {
    name: 'HAProxy with config/haproxy.cfg',
    packages: 'haproxy',
    prepare: async ({ folder, https, service, management, names }) => ({
      command: ['haproxy', '-db', '-f', 'config/haproxy.cfg'],
      env: {
        DNS_ADDRESS: names,
        HTTPS_ADDRESS: `${LOOPBACK}:${https}`,
        CERTIFICATE_FILE: join(folder, 'server.pem'),
        SERVICE_PORT: `${service}`,
        MANAGEMENT_PORT: `${management}`,
      },
    }),
  },
  {
    name: 'nginx with deploy/nginx/product-catalogue.conf',
    packages: 'nginx-light',
    prepare: async ({ folder, https, service }) => {
      const own = join(folder, 'nginx');
      mkdirSync(own);
      const certificate = '/etc/letsencrypt/live/catalogue.example.com';
      const replacements: readonly (readonly [string, string])[] = [
        ['server 127.0.0.1:8443;', `server ${LOOPBACK}:${service};`],
        ['listen 443 ssl;', `listen ${LOOPBACK}:${https} ssl;`],
        ['  listen [::]:443 ssl;\n', ''],
        [`${certificate}/fullchain.pem`, join(folder, 'server.pem')],
        [`${certificate}/privkey.pem`, join(folder, 'server.pem')],
      ];
      let config = readFileSync('deploy/nginx/product-catalogue.conf', 'utf8');
      for (const [text, replacement] of replacements) {
        expect(config).to.include(text);
        config = config.replace(text, replacement);
      }
      writeFileSync(join(own, 'site.conf'), config);
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${join(own, kind)};`,
      );
      const http = `access_log off; ${temporary.join(' ')} include ${join(own, 'site.conf')};`;
      writeFileSync(join(own, 'nginx.conf'), `daemon off; pid ${join(own, 'pid')}; events {}\nhttp { ${http} }\n`);
      return { command: ['nginx', '-e', 'stderr', '-c', join(own, 'nginx.conf')], env: {} };
    },
  },
];

for (const proxy of PROXIES)
  describe(`bytes that no HTTP client sends, to ${proxy.name}`, function () {
    this.timeout(600_000);
    const folder = temporaryFolder();
    const names = new NameServer(() => [LOOPBACK]);
    let service: ChildProcessService;
    let running: ChildProcess;
    let client: HttpClient;

    before(async () => {
      execFileSync('config/make-certificate.sh', { env: { ...process.env, CERTIFICATE_FOLDER: folder } });
      const [https, management] = [await freePort(), await freePort()];
      service = new ChildProcessService(folder, { ...ENVIRONMENT, MANAGEMENT_PORT: `${management}` });
      const [, port] = await service.prints(/port (\d+), in plain HTTP behind a proxy/);
      const place = { folder, https, service: Number(port), management, names: await names.start() };
      const { command, env } = await proxy.prepare(place);
      const [program = '', ...args] = command;
      let log = '';
      running = spawn(program, args, {
        env: { PATH: process.env['PATH'], ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      running.on('error', (error) => {
        log += `${error}; on Debian: apt-get install -y ${proxy.packages}`;
      });
      running.stderr?.on('data', (chunk) => {
        log += chunk;
      });
      client = new HttpClient(https, join(folder, 'localhost.pem'), FIRST_KEY);
      await until(`${proxy.name} serves`, async () => (await client.get('/v1/products')).status === 200).catch(
        (error) => {
          throw new Error(`${error}\n${log}`);
        },
      );
      await client.post('/v1/products', { name: 'Lamp' });
    });
    after(async () => {
      client?.close();
      names.stop();
      if (running?.kill('SIGTERM')) await once(running, 'close');
      await service?.stop('SIGKILL');
    });

    it('never make two requests of one, and never give a client the response to another', async () => {
      const ca = readFileSync(join(folder, 'localhost.pem'));
      const open = () => tlsConnect({ host: 'localhost', port: client.port, ca, servername: 'localhost' });
      const exchanges: Exchange[] = [];
      const mixed: string[] = [];
      const runs = FRAMING_CASES.flatMap((tested) => [
        () => exchange(tested, open, 'whole', whole),
        () => exchange(tested, open, 'cut behind the case', cutAt(tested.bytes.length)),
      ]);
      await inParallel(CONNECTIONS, runs, async (run, index) => {
        const [one, other] = await Promise.all([
          run(),
          client
            .get('/v1/products', { headers: { 'X-Request-Id': `other-${index}` } })
            .catch((error: Error) => ({ status: 0, headers: { 'x-request-id': error.message } })),
        ]);
        exchanges.push(one);
        const id = other.headers['x-request-id'];
        if (other.status !== 200 || id !== `other-${index}`)
          mixed.push(`beside ${one.tested.title}, another client got ${other.status} with the id ${id}`);
        const foreign = one.responses
          .map(idOf)
          .filter((got) => /^(first|third|next|hidden|other)-/.test(got) && !got.endsWith(`-${one.number}`));
        if (foreign.length > 0) mixed.push(`${one.tested.title} got the response to ${foreign}`);
      });
      await untilLogged(service, client);
      const wild = [...desynchronised(exchanges, loggedIds(service.log)), ...mixed];
      figure(`cases through ${proxy.packages}`, exchanges.length);
      figure('desynchronised', wild.length);
      expectNone('desynchronised connections', wild);
    });
  });
