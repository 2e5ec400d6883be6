import { getServers, setServers } from 'node:dns';
import { expect } from 'chai';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import { expectAppError } from '../../../../support/expect-refusal.js';
import { NameServer, type ServiceTarget } from '../../../../support/name-server.js';
import { ScriptedMongo } from '../../../../support/scripted-mongo.js';
import { ENDLESS } from '../../../../support/tables.js';

describe('a MongoDB with a mongodb+srv URL', () => {
  const before = getServers();
  let services: ServiceTarget[];
  let names: NameServer;
  let server: ScriptedMongo;
  let store: MongoStore;

  beforeEach(async () => {
    services = [];
    names = new NameServer(
      () => [],
      () => services,
    );
    setServers([await names.start()]);
    server = new ScriptedMongo();
    // The suffix allows a target that needs no look-up: 127.0.0.1.
    const options = 'tls=false&replicaSet=rs0&srvAllowedHostsSuffix=0.0.1';
    store = new MongoStore(`mongodb+srv://db.example.test/x?${options}`, [], ENDLESS);
  });
  afterEach(async () => {
    setServers(before);
    await store.close();
    names.stop();
    await server.stop();
  });

  it('is unavailable while its name is unknown, and available afterwards', async () => {
    const port = Number((await server.start()).split(':')[1]);
    await expectAppError(store.open(), 'unavailable');
    services = [{ host: '127.0.0.1', port }];
    await store.open();
    await store.ping();
    expect(server.commandsNamed('ping')).to.have.length(1);
  });

  it('is unavailable while no name server responds', async () => {
    await server.start();
    // The port of the discard service, on which nothing listens.
    setServers(['127.0.0.1:9']);
    await expectAppError(store.open(), 'unavailable');
  });
});
