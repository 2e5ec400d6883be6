/**
 * Plays each outage of MongoDB while 30 clients read and write: it is cut off, suspended, killed, slower than every
 * time-out, or without a primary. Each write has an idempotency key and is repeated until it is acknowledged. Responses
 * are 503 with `Retry-After`, never 500; readiness turns in both directions; queries of one client that time out refuse
 * no request of another. At the end the test looks for every acknowledged record, and for doubled ones. An outage is
 * known one to one and a half seconds after the last reply of the store.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Document, MongoClient } from 'mongodb';
import type { ChildProcessService } from '../../tests/support/child-process-service.js';
import type { HttpClient } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { MongoProcess } from '../../tests/support/mongo-process.js';
import { throughProxy } from '../../tests/support/mongo-url.js';
import { TcpProxy } from '../../tests/support/tcp-proxy.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import { CLIENTS, PAUSE_MS } from './outages/load.js';
import { faultsOf, outagesIn } from './outages/outages.js';

const CUTS = 10;
/** Long enough that requests come in between on a busy machine too. */
const STEP_DOWN_SECONDS = 10;

describe('an outage of MongoDB', () => {
  const root = temporaryFolder();
  const { figure, serviceOn, start, expectOutage, startsWithout } = outagesIn('mongo-outages', root);
  let mongo: MongoProcess;
  let proxy: TcpProxy;
  let control: MongoClient;
  const settingsAt = (url: string) => ({ STORE: 'mongodb', MONGODB_URL: url, LOG_LEVEL: 'warn' });
  let proxied: Record<string, string>;

  before(async () => {
    mongo = await MongoProcess.onFreePort(root);
    await mongo.run();
    proxy = new TcpProxy({ host: '127.0.0.1', port: mongo.port });
    proxied = settingsAt(throughProxy(mongo.url('proxied'), await proxy.listen()));
    control = new MongoClient(mongo.url('admin'));
  });
  after(async () => {
    await control.close();
    await proxy.close();
    await mongo.kill();
  });

  startsWithout(
    () => proxy,
    () => settingsAt(throughProxy(mongo.url('first-key'), proxy.port)),
  );

  it(`is 503, and ends when it is over, for ${CLIENTS} clients`, async () => {
    const service = start(proxied);
    const client = await service.started(FIRST_KEY);
    expect((await client.post('/products', { name: 'first' })).json.id).to.equal(1);
    const server = {
      suspend: async () => mongo.hang(),
      resume: async () => mongo.resume(),
      kill: () => mongo.kill(),
      restart: () => mongo.run(),
    };
    for (const [name, fault] of Object.entries(faultsOf(server, proxy)))
      await expectOutage(name, fault, client, service);
    client.close();
  });

  it('that cuts connections during large writes is 503 and never 500', async () => {
    const client = await start(proxied).started(FIRST_KEY);
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
    const client = await start(proxied).started(FIRST_KEY);
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
      service = serviceOn(settingsAt(mongo.url('direct')));
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
    const create = (name: string) => client.post('/products', { name }, { headers: { 'Idempotency-Key': name } });
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
      const token = (await client.post('/api-keys', { name: 'other', scopes: ['products:read', 'products:write'] }))
        .json.key;
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
      await expectOutage('it steps down', stepDown, client, service);
    });
  });
});
