import { createServer } from 'node:net';
import { expect } from 'chai';
import { listen, logErrors } from '#src/composition/listen.js';
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

  it('rejects if it cannot listen', async () => {
    const [first, second] = [createServer(), createServer()];
    const port = await listen(first, '127.0.0.1', 0);
    const error = await listen(second, '127.0.0.1', port).catch((reason: unknown) => reason);
    expect(error).to.be.an('error').with.property('message').that.includes(`127.0.0.1:${port} is in use`);
    first.close();
  });
});
