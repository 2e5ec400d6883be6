import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Document } from 'mongodb';
import { compose } from '#src/composition/application.js';
import { loadSettings } from '#src/config/settings.js';
import { Service } from '#src/process/service.js';
import { freePort } from '../support/free-port.js';
import { HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { type Scripted, ScriptedMongo } from '../support/scripted-mongo.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const SCOPES = ['users:write', 'products:write'];

const DATES = { createdAt: new Date(0), updatedAt: new Date(0) };
const stored = (_id: number, fields: Document, version = 1): Document => ({
  _id,
  live: true,
  version,
  ...DATES,
  fields,
});

const found = (...firstBatch: Document[]): Document => ({ cursor: { id: 0n, ns: 'x.y', firstBatch } });

describe('a service on MongoDB', () => {
  const folder = temporaryFolder();
  let finishIndexes = (_: Document) => {};
  const indexes = new Promise<Document>((resolve) => (finishIndexes = resolve));
  const server = new ScriptedMongo((name, command): Scripted | undefined => {
    if (name === 'createIndexes') return indexes;
    if (name !== 'find' || 'derived' in command['filter']) return undefined;
    if (command['find'] === 'products')
      return command['readConcern'].level === 'linearizable' ? confirmation() : found(product);
    const digest = command['filter']['fields.digest']?.$eq;
    return digest && found(stored(1, { name: 'first', scopes: SCOPES, digest }));
  });
  let product: Document;
  let confirmation: () => Scripted;
  let service: Service;
  let client: HttpClient;
  let started: Promise<unknown>;

  before(async () => {
    const settings = {
      PORT: `${await freePort()}`,
      MANAGEMENT_PORT: '0',
      STORE: 'mongodb',
      MONGODB_URL: `mongodb://${await server.start()}/x?replicaSet=rs0`,
      DATA_DIR: folder,
      LOG_LEVEL: 'silent',
      SHUTDOWN_GRACE_SECONDS: '1',
      BOOTSTRAP_API_KEY: FIRST_KEY,
      CHANGES: 'off',
    };
    service = new Service(await compose(loadSettings(settings)));
    started = service.start();
    const authority = `${folder}/tls/ca.pem`;
    await until('the certificate exists', () => existsSync(authority));
    client = new HttpClient(Number(settings.PORT), authority, FIRST_KEY);
    await until('it listens', () => client.get('/health/live'));
  });
  after(async () => {
    client.close();
    await service.stop();
    await server.stop();
  });

  it('is not ready and writes nothing until the indexes exist', async () => {
    const user = { name: 'Ada', email: 'ada@example.com' };
    await until('it makes the indexes', () => server.commandsNamed('createIndexes').length > 0);
    const early = await Promise.all([client.post('/v1/users', user), client.post('/v1/users', user)]);
    expect(early.map(({ status }) => status)).to.deep.equal([503, 503]);
    expect((await client.get('/health/ready')).status).to.equal(503);
    expect(server.commandsNamed('insert')).to.deep.equal([]);
    finishIndexes({});
    await started;
    expect((await client.get('/health/ready')).status).to.equal(200);
    expect((await client.post('/v1/users', user)).status).to.equal(201);
  });

  describe('that gets a change without effect', () => {
    const put = () => client.put('/v1/products/1', { name: 'Lamp' }, { headers: { 'If-Match': '"3"' } });
    const confirmations = () =>
      server.commandsNamed('find').filter(({ readConcern }) => readConcern.level === 'linearizable');

    before(async () => {
      finishIndexes({});
      await started;
    });
    beforeEach(() => {
      product = stored(1, { name: 'Lamp' }, 3);
      server.commands.length = 0;
    });

    it('responds with 200 once a majority has confirmed the version', async () => {
      let confirm = (_: Document) => {};
      confirmation = () => new Promise<Document>((resolve) => (confirm = resolve));
      const response = put();
      await until('it asks the majority', () => confirmations().length > 0);
      expect(await Promise.race([response, sleep(100, 'none yet')])).to.equal('none yet');
      confirm(found({ _id: 1 }));
      expect((await response).status).to.equal(200);
      expect(confirmations().map(({ filter }) => filter)).to.deep.equal([{ _id: 1, version: 3, live: true }]);
      expect(server.commandsNamed('update').filter(({ update }) => update === 'products')).to.deep.equal([]);
    });

    it('responds with 412 if the majority has a newer version', async () => {
      confirmation = () => {
        product = stored(1, { name: 'Torch' }, 4);
        return found();
      };
      expect((await put()).status).to.equal(412);
    });

    it('responds with 503 if the server is not the primary any more', async () => {
      const former = { ok: 0, code: 10107, codeName: 'NotWritablePrimary', errmsg: 'not primary' };
      confirmation = () => former;
      expect((await put()).status).to.equal(503);
      expect(confirmations()).to.have.length.at.least(1);
    });
  });
});
