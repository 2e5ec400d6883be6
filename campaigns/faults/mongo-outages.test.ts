/**
 * Plays each outage of MongoDB while 30 clients read and write: it is cut off, suspended, killed, slower than every
 * time-out, or without a primary. Each write has an idempotency key and is repeated until it is acknowledged. Responses
 * are 503 with `Retry-After`, never 500; readiness turns in both directions; queries of one client that time out refuse
 * no request of another. At the end the test looks for every acknowledged record, and for doubled ones. An outage is
 * known one to one and a half seconds after the last reply of the store.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Document, MongoClient } from 'mongodb';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import { HttpClient } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { recordsOf } from '../../tests/support/links.js';
import { MongoProcess } from '../../tests/support/mongo-process.js';
import { throughProxy } from '../../tests/support/mongo-url.js';
import { TcpProxy } from '../../tests/support/tcp-proxy.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import { CLIENTS, Load, PAUSE_MS } from './mongo-outages/load.js';

const figure = figuresOf('mongo-outages');

const CUTS = 10;
const WARM_UP_MS = 500;
/** At least so long, in milliseconds. The outage is known after two seconds, and later times are measured. */
const OUTAGE_MS = 2_700;
/** Long enough that requests come in between on a busy machine too. */
const STEP_DOWN_SECONDS = 10;

interface Fault {
  begin(): unknown;
  end(): unknown;
  /** After this time from its beginning, no replies to earlier commands arrive. */
  readonly lastReplyMs?: number;
  readonly outageMs?: number;
}

describe('an outage of MongoDB', () => {
  const root = temporaryFolder();
  const running: ChildProcessService[] = [];
  const loads: Load[] = [];
  const acknowledged = { creations: 0, lost: 0, doubled: 0 };
  let mongo: MongoProcess;
  let proxy: TcpProxy;
  let proxied: string;
  let control: MongoClient;

  before(async () => {
    mongo = await MongoProcess.onFreePort(root);
    await mongo.run();
    proxy = new TcpProxy({ host: '127.0.0.1', port: mongo.port });
    proxied = throughProxy(mongo.url('proxied'), await proxy.listen());
    control = new MongoClient(mongo.url('admin'));
  });
  afterEach(async () => {
    // A test that fails leaves its load to the next one otherwise.
    for (const load of loads.splice(0)) await load.stop();
    for (const service of running.splice(0)) await service.stop('SIGKILL');
  });
  after(async () => {
    figure('creations with a key that were acknowledged', acknowledged.creations);
    figure('lost', acknowledged.lost);
    figure('doubled', acknowledged.doubled);
    await control.close();
    await proxy.close();
    await mongo.kill();
  });

  const serviceOn = (url: string, environment: Record<string, string> = {}) =>
    new ChildProcessService(mkdtempSync(join(root, 'run-')), {
      STORE: 'mongodb',
      MONGODB_URL: url,
      BOOTSTRAP_API_KEY: FIRST_KEY,
      ...environment,
    });
  const start = (...settings: Parameters<typeof serviceOn>) => {
    const service = serviceOn(...settings);
    running.push(service);
    return service;
  };
  const loadOf = (client: HttpClient, { pid }: ChildProcessService): Load => {
    const load = new Load(client, pid);
    loads.push(load);
    return load;
  };
  /** Looks for every creation of a load, which has ended. */
  const expectEachOnce = async (client: HttpClient, { acknowledged: made, names }: Load) => {
    const found = await countsByName(client);
    const lost = made.filter((name) => !found.has(name));
    const doubled = names.filter((name) => (found.get(name) ?? 0) > 1);
    acknowledged.creations += made.length;
    acknowledged.lost += lost.length;
    acknowledged.doubled += doubled.length;
    expect({ lost, doubled }).to.deep.equal({ lost: [], doubled: [] });
  };
  const health = async (client: HttpClient, name: string) =>
    (await client.get(`/health/${name}`, { token: null })).status;

  describe('at the start', () => {
    afterEach(() => proxy.set('none'));

    it('delays the start, and the first key is printed once it is reachable', async () => {
      await proxy.set('cut');
      const service = start(proxied.replace('/proxied', '/first-key'), { BOOTSTRAP_API_KEY: '' });
      await service.logs(/the store cannot be reached yet/);
      const [, port] = await service.logs(/"port":(\d+)[^\n]*"msg":"listening"/);
      const early = new HttpClient(Number(port), `${service.folder}/data/tls/ca.pem`, 'x');
      expect([await health(early, 'live'), await health(early, 'ready')]).to.deep.equal([200, 503]);
      expect(service.out).to.equal('');
      early.close();
      await proxy.set('none');
      const client = await service.started();
      expect((await client.get('/products')).status).to.equal(200);
      client.close();
    });

    it('ends the service with exit code 75 after a time', async () => {
      await proxy.set('cut');
      const service = start(proxied, { STORE_START_TIMEOUT_SECONDS: '2' });
      expect((await service.exit).code).to.equal(75);
      expect(service.out).to.match(/^The service ends: The store could not be reached in time/);
      expect(service.out).to.not.include('pcs_');
    });
  });

  const expectShortOutage = async (
    name: string,
    { begin, end, lastReplyMs = 0, outageMs = OUTAGE_MS }: Fault,
    client: HttpClient,
    service: ChildProcessService,
  ) => {
    const load = loadOf(client, service);
    await sleep(WARM_UP_MS);
    load.outageBegins(lastReplyMs);
    const begun = begin();
    await Promise.all([
      sleep(lastReplyMs + outageMs),
      until('requests are refused, and the service is not ready', () => load.isRefused()),
    ]);
    await begun;
    load.outageEnds();
    await end();
    load.storeIsBack();
    await until('requests succeed, and the service is ready', () => load.isServedAgain());
    await load.stop();
    load.expectNoFailure();
    await expectEachOnce(client, load);
    for (const [what, value, unit] of load.figures()) figure(`${name}: ${what}`, value, unit);
  };

  const FAULTS: Readonly<Record<string, Fault>> = {
    'its network is cut': { begin: () => proxy.set('cut'), end: () => proxy.set('none') },
    'its network hangs': { begin: () => proxy.set('hang'), end: () => proxy.set('none') },
    'it is suspended': { begin: () => mongo.hang(), end: () => mongo.resume() },
    'it is killed and started': { begin: () => mongo.kill(), end: () => mongo.run() },
    'its network takes 2 seconds': {
      begin: () => {
        proxy.delayMs = 1_000;
      },
      end: () => {
        proxy.delayMs = 0;
      },
      lastReplyMs: 1_000,
    },
  };

  it(`is 503, and ends when it is over, for ${CLIENTS} clients`, async () => {
    const service = start(proxied, { LOG_LEVEL: 'warn' });
    const client = await service.started(FIRST_KEY);
    expect((await client.post('/products', { name: 'first' })).json.id).to.equal(1);
    for (const [name, fault] of Object.entries(FAULTS)) await expectShortOutage(name, fault, client, service);
    client.close();
  });

  it('that cuts connections during large writes is 503 and never 500', async () => {
    const client = await start(proxied, { LOG_LEVEL: 'warn' }).started(FIRST_KEY);
    // The driver writes commands over 16 KiB in several parts.
    const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [at, 'é'.repeat(500)]));
    const statuses = new Map<number, number>();
    let isOver = false;
    const write = async (writer: number) => {
      while (!isOver) {
        const { status } = await client.post('/products', { name: `of ${writer}`, attributes });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const writers = Array.from({ length: 16 }, (_, writer) => write(writer));
    for (let cut = 0; cut < CUTS; cut++) {
      const made = statuses.get(201) ?? 0;
      await until('writes succeed again', () => (statuses.get(201) ?? 0) > made + 20);
      await proxy.set('cut');
      await proxy.set('none');
    }
    isOver = true;
    await Promise.all(writers);
    expect([...statuses.keys()].filter((status) => status !== 201 && status !== 503)).to.deep.equal([]);
    client.close();
  });

  it('that is only slow delays responses', async () => {
    const client = await start(proxied, { LOG_LEVEL: 'warn' }).started(FIRST_KEY);
    proxy.delayMs = 150;
    expect((await client.post('/products', { name: 'Lamp' })).status).to.equal(201);
    expect((await client.get('/products')).status).to.equal(200);
    proxy.delayMs = 0;
    client.close();
  });

  describe('in the database itself', () => {
    let service: ChildProcessService;
    let client: HttpClient;
    before(async () => {
      service = serviceOn(mongo.url('direct'), { LOG_LEVEL: 'warn' });
      client = await service.started(FIRST_KEY);
    });
    afterEach(() => fail({}, 'off'));
    after(async () => {
      client.close();
      await service.stop('SIGKILL');
    });

    /** Also understood by a mongod with `enableTestCommands`. */
    const fail = (data: Document, mode: unknown = 'alwaysOn') =>
      control.db('admin').command({ configureFailPoint: 'failCommand', mode, data });
    const create = (name: string) =>
      client.post('/products', { name }, { headers: { 'Idempotency-Key': name } });
    const countOf = (name: string) =>
      control.db('direct').collection('products').countDocuments({ 'fields.name': name });

    it('that delays the queries of one client refuses no others', async () => {
      await client.post('/users', { name: 'A', email: 'a@example.com' });
      await create('present');
      await fail({
        failCommands: ['find'],
        namespace: 'direct.users',
        blockConnection: true,
        blockTimeMS: 4_000,
      });
      // The shares of one client are limited, so the others have a key of their own.
      const token = (
        await client.post('/api-keys', { name: 'other', scopes: ['products:read', 'products:write'] })
      ).json.key;
      let isOver = false;
      const others: number[] = [];
      const read = async () => {
        for (let turn = 0; !isOver; turn++) {
          const { status } = await (turn % 2 === 0
            ? client.get('/products', { token })
            : client.post('/products', { name: 'beside' }, { token }));
          others.push(status);
          await sleep(PAUSE_MS);
        }
      };
      const readers = Array.from({ length: 4 }, read);
      const slow = await Promise.all(Array.from({ length: 12 }, () => client.get('/users')));
      isOver = true;
      await Promise.all(readers);
      const refused = others.filter((status) => status > 201);
      figure('requests beside queries that time out', others.length);
      figure('refused of them', refused.length);
      expect(new Set(slow.map(({ status }) => status))).to.deep.equal(new Set([503]));
      expect(refused).to.deep.equal([]);
      // Heartbeats alone show that the store responds.
      expect((await client.get('/users')).status).to.equal(503);
      expect((await client.get('/products')).status).to.equal(200);
    });

    for (const [name, errorCode] of Object.entries({
      NotWritablePrimary: 10_107,
      NotPrimaryNoSecondaryOk: 13_435,
      PrimarySteppedDown: 189,
      InterruptedDueToReplStateChange: 11_602,
      ShutdownInProgress: 91,
      HostUnreachable: 6,
    })) {
      it(`that responds ${name} once is not seen, and 503 if it does so again`, async () => {
        const commands = ['find', 'insert', 'update'];
        const { id } = (await create(`kept ${name}`)).json;
        const requests = {
          find: () => client.get(`/products/${id}`),
          insert: () => create(`made ${name}`),
          update: () => client.patch(`/products/${id}`, { name: randomUUID() }),
        };
        for (const command of commands) {
          const request = requests[command as keyof typeof requests];
          const data = { failCommands: [command], namespace: 'direct.products', errorCode };
          await fail(data, { times: 2 });
          expect((await request()).status, `${command} twice`).to.equal(503);
          await fail(data, { times: 1 });
          expect((await request()).status, `${command} once`).to.be.oneOf([200, 201]);
        }
        expect(await countOf(`made ${name}`)).to.equal(1);
      });
    }

    for (const [name, code] of Object.entries({
      WriteConcernTimeout: 64,
      UnsatisfiableWriteConcern: 100,
      ShutdownInProgress: 91,
      InterruptedDueToReplStateChange: 11_602,
    })) {
      it(`that reports ${name} for the write concern acknowledges nothing`, async () => {
        const writeConcernError = { code, errmsg: 'waiting for replication timed out' };
        const data = { failCommands: ['insert', 'update', 'findAndModify'], writeConcernError };
        const { id } = (await create(`unconfirmed ${name}`)).json;
        await fail(data);
        const made = `confirmed ${name}`;
        expect((await create(made)).status).to.equal(503);
        expect((await client.post('/products', { name: `plain ${name}` })).status).to.equal(503);
        expect((await client.patch(`/products/${id}`, { name: `new ${name}` })).status).to.equal(503);
        expect((await client.delete(`/products/${id}`)).status).to.equal(503);
        expect((await client.post('/api-keys', { name, scopes: ['products:read'] })).status).to.equal(503);
        await fail({}, 'off');
        const [first, again] = [await create(made), await create(made)];
        expect([first.status, again.status]).to.deep.equal([201, 201]);
        expect(again.json.id).to.equal(first.json.id);
        expect(await countOf(made)).to.equal(1);
      });
    }

    it('whose only primary steps down is 503, then works by itself', async () => {
      const stepDown = {
        begin: () => control.db('admin').command({ replSetStepDown: STEP_DOWN_SECONDS, force: true }),
        end: () => {},
        outageMs: STEP_DOWN_SECONDS * 1_000,
      };
      await expectShortOutage('it steps down', stepDown, client, service);
    });
  });
});

/** Returns how many products have each name. */
async function countsByName(client: HttpClient): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const { name } of recordsOf(client, '/products?limit=1000'))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
