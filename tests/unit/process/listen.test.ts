import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { createPlainServer, Drain } from '#src/adapters/inbound/http/server/server.js';
import { SettingsError } from '#src/config/settings.js';
import { AddressInUse, listen, listenOnAll, logErrors } from '#src/process/listen.js';
import { RecordingLogger } from '../../support/fakes.js';

describe('a server that listens', () => {
  it('logs each of its errors and goes on', async () => {
    const logger = new RecordingLogger();
    const server = createServer();
    await listen(server, '127.0.0.1', 0);
    logErrors(server, logger);
    for (const code of ['EMFILE', 'ENFILE']) server.emit('error', new Error(`accept ${code}`));
    expect(logger.events).to.deep.equal(Array(2).fill('a connection was not accepted'));
    expect(server.listening).to.equal(true);
    server.close();
  });

  describe('on localhost', () => {
    const answering = () => createPlainServer((_request, response) => void response.end('here'));
    const reaches = async (host: string, port: number) =>
      (await fetch(`http://${host}:${port}`, { headers: { Connection: 'close' } })).text();

    it('listens on each of its addresses, on one port, until it is drained', async () => {
      const server = answering();
      const drain = new Drain(server);
      const others: Server[] = [];
      const port = await listen(server, 'localhost', 0, undefined, (other) => {
        others.push(other);
        drain.add(other);
      });
      expect(await reaches('127.0.0.1', port)).to.equal('here');
      expect(await reaches('[::1]', port)).to.equal('here');
      expect(await drain.drain(1_000)).to.equal(true);
      expect([server, ...others].map(({ listening }) => listening)).to.deep.equal([false, false]);
    });

    it('finishes requests of each address during a drain', async () => {
      let finish = () => {};
      const server = createPlainServer((_request, response) => (finish = () => void response.end('finished')));
      const drain = new Drain(server);
      const port = await listen(server, 'localhost', 0, undefined, (other) => drain.add(other));
      const response = reaches('[::1]', port);
      const begun = once(server, 'request');
      await begun;
      const drained = drain.drain(60_000);
      finish();
      expect(await response).to.equal('finished');
      expect(await drained).to.equal(true);
    });

    it('listens on one address if the machine lacks the other', async () => {
      // Addresses for documentation (RFC 5737) and for later use (RFC 1112), which no machine has.
      for (const hosts of [
        ['127.0.0.1', '192.0.2.1'],
        ['192.0.2.1', '127.0.0.1'],
      ]) {
        const server = answering();
        const port = await listenOnAll(server, hosts, 0);
        expect(await reaches('127.0.0.1', port)).to.equal('here');
        server.close();
      }
      const error = await listenOnAll(answering(), ['192.0.2.1', '240.0.0.1'], 0).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(SettingsError);
    });

    it('listens nowhere if another program has the port on one address', async () => {
      const other = createServer();
      const port = await listen(other, '::1', 0);
      const server = answering();
      const error = await listen(server, 'localhost', port).catch((reason: unknown) => reason);
      // A program of another test may have the port on the first address.
      const taken = new RegExp(`(?:::1|127\\.0\\.0\\.1):${port} is in use`);
      expect(error).to.be.instanceOf(AddressInUse).with.property('message').that.matches(taken);
      expect(server.listening).to.equal(false);
      other.close();
    });
  });
});
