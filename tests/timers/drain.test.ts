import { once } from 'node:events';
import { expect } from 'chai';
import { createPlainServer, Drain } from '#src/adapters/inbound/http/server/server.js';
import { listen } from '#src/process/listen.js';
import { HttpClient, received } from '../support/http-client.js';

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

describe('a drain', () => {
  const start = async () => {
    const server = createPlainServer((_request, response) => {
      if (drain.isDraining) response.setHeader('Connection', 'close');
      response.end('done');
    });
    const drain = new Drain(server);
    const client = new HttpClient(await listen(server, '127.0.0.1', 0), undefined, '');
    return { drain, client };
  };

  it('still serves a request on a connection that was idle, and closes it with the response', async () => {
    const { drain, client } = await start();
    const socket = await client.connect();
    socket.write(GET);
    await once(socket, 'data');
    const drained = drain.drain(60_000);
    socket.write(GET);
    expect(await received(socket)).to.match(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\nConnection: close\r\n[\s\S]*done$/i);
    expect(await drained).to.equal(true);
  });

  it('closes connections that stay idle, long before its deadline', async () => {
    const { drain, client } = await start();
    const sockets = await Promise.all([client.connect(), client.connect()]);
    sockets[0]?.write(GET);
    await once(sockets[0] as NodeJS.EventEmitter, 'data');
    const closed = Promise.all(sockets.map((socket) => received(socket)));
    // If it waited for the deadline, this test would time out.
    expect(await drain.drain(3_600_000)).to.equal(true);
    expect(await closed).to.deep.equal(['', '']);
  });
});
