import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ChildProcessService } from '../support/child-process-service.js';
import { type HttpClient, type HttpResponse, received } from '../support/http-client.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { everyProduct, isAlive, logged, WriteLoad } from '../support/workers.js';

/** No request is cut off, however slow the machine is. */
const PATIENT = { SHUTDOWN_GRACE_SECONDS: '3600' };
const REPLACED = 'a worker ended; another takes its place';

describe('several workers', () => {
  const root = temporaryFolder();
  const running: ChildProcessService[] = [];
  const clients: HttpClient[] = [];
  const loads: WriteLoad[] = [];
  const folder = () => mkdtempSync(join(root, 'run-'));
  const start = (environment: Record<string, string> = {}, where = folder()) => {
    const service = new ChildProcessService(where, { WORKERS: '2', ...environment });
    running.push(service);
    return service;
  };
  const workersOf = (service: ChildProcessService) => logged(service, 'started').map(({ pid }) => pid);
  /** Waits until both workers serve. @returns a client */
  const serving = async (service: ChildProcessService, token?: string): Promise<HttpClient> => {
    const client = await service.started(token);
    clients.push(client);
    await until('two workers serve', () => workersOf(service).length >= 2);
    return client;
  };
  /** Sends `count` requests at the same time, over at most 64 connections for each of four clients. */
  const atOnce = async (
    service: ChildProcessService,
    count: number,
    request: (client: HttpClient, i: number) => Promise<HttpResponse>,
  ): Promise<HttpResponse[]> => {
    const several = await Promise.all(Array.from({ length: 4 }, () => service.started(service.firstKey)));
    clients.push(...several);
    return Promise.all(Array.from({ length: count }, (_, i) => request(several[i % 4] as HttpClient, i)));
  };
  const writing = (client: HttpClient): WriteLoad => {
    const load = new WriteLoad(client);
    loads.push(load);
    return load;
  };
  afterEach(async () => {
    for (const load of loads.splice(0)) load.stop();
    for (const client of clients.splice(0)) client.close();
    for (const service of running.splice(0)) await service.stop('SIGKILL');
  });

  describe('in one pool', () => {
    let service: ChildProcessService;
    before(async () => {
      service = new ChildProcessService(folder(), { WORKERS: '2' });
      (await service.started()).close();
      await until('two workers serve', () => workersOf(service).length >= 2);
    });
    after(() => service.stop('SIGKILL'));

    it('share one port, and only one process prints', async () => {
      const responses = await atOnce(service, 100, (client) => client.get('/products'));
      expect(responses.every(({ status }) => status === 200)).to.equal(true);
      await until('all requests are logged', () => logged(service, 'request').length === 100);
      const pids = new Set(logged(service, 'request').map(({ pid }) => pid));
      expect([...pids].sort()).to.deep.equal(workersOf(service).sort());
      expect([...pids]).to.not.include(service.pid);
      expect(service.out.match(/listens on/g)).to.have.length(1);
      expect(service.out.match(/shown this once/g)).to.have.length(1);
    });
  });

  it('are not started for WORKERS=1: the process itself serves', async () => {
    const service = start({ WORKERS: '1' });
    await service.started();
    await until('one process serves', () => workersOf(service).length > 0);
    expect(workersOf(service)).to.deep.equal([service.pid]);
  });

  it('share one rate limit, exact under concurrency', async () => {
    const service = start({ RATE_LIMIT_REQUESTS: '50', RATE_LIMIT_WINDOW_SECONDS: '600' });
    await serving(service);
    const responses = await atOnce(service, 200, (client) => client.get('/products'));
    const allowed = responses.filter(({ status }) => status === 200);
    expect(allowed).to.have.length(50);
    expect(responses.filter(({ status }) => status === 429)).to.have.length(150);
    for (const { headers } of allowed) {
      const [, remaining] = /;r=(\d+);t=/.exec(String(headers['ratelimit'])) ?? [];
      expect(Number(remaining)).to.be.within(0, 49);
    }
    await until('all requests are logged', () => logged(service, 'request').length === 200);
    expect(new Set(logged(service, 'request').map(({ pid }) => pid)).size).to.equal(2);
  });

  describe('if some die', () => {
    it('keep their port if all die at the same time', async () => {
      const service = start();
      await serving(service);
      for (const pid of workersOf(service)) process.kill(pid, 'SIGKILL');
      await until('four workers served in all', () => workersOf(service).length === 4);
      const [response] = await atOnce(service, 1, (other) => other.get('/products'));
      expect(response?.status).to.equal(200);
      expect(new Set(logged(service, 'listening').map(({ port }) => port)).size).to.equal(1);
      const killed = [service.pid, 'SIGKILL'];
      expect(logged(service, REPLACED).map(({ pid, signal }) => [pid, signal])).to.deep.equal([killed, killed]);
      expect(service.out.match(/listens on/g), 'nothing is printed twice').to.have.length(1);
    });

    it('are replaced after growing pauses if they die repeatedly', async () => {
      const service = start();
      await serving(service);
      for (let deaths = 1; deaths <= 4; deaths++) {
        process.kill(workersOf(service).at(-1) ?? 0, 'SIGKILL');
        await until('the next one serves', () => workersOf(service).length === 2 + deaths);
      }
      expect(logged(service, REPLACED).map(({ pauseMs }) => pauseMs)).to.deep.equal([0, 250, 500, 1_000]);
    });

    it('leave no connection open that they did not take before they died', async () => {
      const service = start();
      const client = await serving(service);
      const [first = 0] = workersOf(service);
      process.kill(first, 'SIGSTOP');
      let taken = 0;
      const attempts = Array.from({ length: 8 }, async () => {
        const socket = await client.connect().catch(() => undefined);
        taken++;
        return socket;
      });
      // A worker gets no further connection before it has taken the last one.
      await until('the other worker has taken seven', () => taken >= 7);
      process.kill(first, 'SIGKILL');
      // If the last one stayed open, this test would time out.
      const sockets = await Promise.all(attempts);
      expect(sockets.filter((socket) => socket === undefined).length).to.be.at.most(1);
      for (const socket of sockets) socket?.destroy();
    });
  });

  describe('on a signal to stop', () => {
    /** Sends the first half of four requests. @returns a function that sends the rest and returns the responses */
    const beginPosts = async (service: ChildProcessService, client: HttpClient) => {
      const sockets = await Promise.all(Array.from({ length: 4 }, () => client.connect()));
      const headers = `Host: x\r\nAuthorization: Bearer ${service.firstKey}\r\nContent-Type: application/json`;
      for (const socket of sockets)
        socket.write(`POST /products HTTP/1.1\r\n${headers}\r\nContent-Length: 15\r\n\r\n{"name"`);
      await service.worksOn(sockets.length);
      return () => {
        for (const socket of sockets) socket.write(':"Lamp"}');
        return Promise.all(sockets.map((socket) => received(socket)));
      };
    };

    it('finish pending requests, lose no acknowledged write, and exit with 0', async () => {
      const where = folder();
      const service = start(PATIENT, where);
      const client = await serving(service);
      const finish = await beginPosts(service, client);
      const load = writing(client);
      await load.more(100);
      service.kill('SIGTERM');
      await service.drains();
      for (const response of await finish()) {
        expect(response).to.match(/^HTTP\/1\.1 201 Created\r\n[\s\S]*\r\nConnection: close\r\n/);
        load.acknowledged.push(Number(/"id":(\d+)/.exec(response)?.[1]));
      }
      expect(await service.exit).to.deep.equal({ code: 0, signal: null });
      await load.stop();
      expect(logged(service, 'stopped')).to.have.length(2);
      expect(logged(service, REPLACED)).to.deep.equal([]);

      const found = await everyProduct(await serving(start({}, where), service.firstKey));
      expect(load.acknowledged.filter((id) => !found.has(id))).to.deep.equal([]);
    });

    it('to all processes, as Ctrl-C sends it, exit with 0', async () => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        const service = start(PATIENT);
        const client = await serving(service);
        const finish = await beginPosts(service, client);
        for (const pid of [...workersOf(service), service.pid]) process.kill(pid, signal);
        await service.drains();
        for (const response of await finish()) expect(response).to.match(/^HTTP\/1\.1 201 Created\r\n/);
        expect(await service.exit).to.deep.equal({ code: 0, signal: null });
        expect(logged(service, 'stopped')).to.have.length(2);
        expect(logged(service, REPLACED)).to.deep.equal([]);
      }
    });

    it('sent twice, exit immediately', async () => {
      // If the exit waited for the requests, this test would time out.
      const service = start(PATIENT);
      await beginPosts(service, await serving(service));
      service.kill('SIGTERM');
      await service.drains();
      expect((await service.stop('SIGTERM')).code).to.equal(143);
      await until('no worker is left', () => !workersOf(service).some(isAlive));
    });

    it('before they serve, exit with 0', async () => {
      const service = start({ SQLITE_FILE: '/dev/null/x.sqlite' });
      await service.logs(/the store cannot be reached yet/);
      expect((await service.stop()).code).to.equal(0);
      expect(service.out).to.equal('');
    });
  });

  it('exit if the primary is killed', async () => {
    const service = start();
    const client = await serving(service);
    const load = writing(client);
    await load.more(50);
    const workers = workersOf(service);
    expect(workers.every(isAlive)).to.equal(true);
    process.kill(service.pid, 'SIGKILL');
    await until('no worker is left', () => !workers.some(isAlive));
    await load.stop();
  });

  describe('if they cannot start', () => {
    /** Returns the exit code, the output, and the log lines that are not JSON. */
    const endOf = async (WORKERS: string, environment: Record<string, string>) => {
      const service = start({ ...environment, WORKERS });
      const { code } = await service.exit;
      expect(service.log).to.not.include(REPLACED);
      const plain = service.log.split('\n').filter((line) => !line.startsWith('{'));
      return { code, out: service.out, plain };
    };

    const notes = join(root, 'notes.txt');
    before(() => writeFileSync(notes, 'my notes, '.repeat(1_000)));
    for (const [what, environment, code] of [
      ['the file is not a database', { SQLITE_FILE: notes }, 78],
      [
        'the store cannot be opened in time',
        { SQLITE_FILE: '/dev/null/x.sqlite', STORE_START_TIMEOUT_SECONDS: '1' },
        75,
      ],
      ['settings are invalid', { PORT: 'x', STORE: 'y' }, 78],
      ['the first key is malformed', { BOOTSTRAP_API_KEY: 'pcs_wrong' }, 78],
    ] as const)
      it(`exit as one process does if ${what}`, async () => {
        const several = await endOf('3', environment);
        expect(several.code).to.equal(code);
        expect(several).to.deep.equal(await endOf('1', environment));
      });

    it('exit with 1 and name the signal if the first worker is killed', async () => {
      const service = start({ SQLITE_FILE: '/dev/null/x.sqlite' });
      const [, pid] = await service.logs(/"pid":(\d+),[^\n]*"msg":"listening"/);
      process.kill(Number(pid), 'SIGKILL');
      expect((await service.exit).code).to.equal(1);
      expect(service.out).to.equal('The service ends: its first worker was ended by SIGKILL\n');
    });

    it('are refused with STORE=memory', async () => {
      const { code, out, plain } = await endOf('2', { STORE: 'memory' });
      expect([code, out]).to.deep.equal([78, '']);
      expect(plain.join('')).to.match(/^WORKERS must be 1 with STORE=memory/);
    });
  });
});
