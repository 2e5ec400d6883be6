import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server, Socket } from 'node:net';
import { expect } from 'chai';
import { refuseTunnel } from '#src/adapters/inbound/http/server/client-error.js';
import { acceptConnections, connectionOf } from '#src/adapters/inbound/http/server/connection.js';

describe('the socket of a CONNECT behind a response in progress', () => {
  const connect = () => {
    const socket = new Socket();
    const server = new Server();
    acceptConnections(server, 'connection', { handle: () => {} });
    server.emit('connection', socket);
    const request = { complete: true, destroy() {} };
    const response = Object.assign(new EventEmitter(), { req: request, writableNeedDrain: true });
    connectionOf(socket).pipeline.add(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    refuseTunnel(socket, {});
    return { socket, response };
  };

  it('tells the response that the connection has drained, so that its stream goes on', () => {
    const { socket, response } = connect();
    let drained = 0;
    response.on('drain', () => drained++);
    socket.emit('drain');
    expect(drained).to.equal(1);
  });

  it('takes a reset of the client, which without a listener would end the process', () => {
    const { socket } = connect();
    expect(() => socket.emit('error', new Error('read ECONNRESET'))).not.to.throw();
    expect(socket.destroyed).to.equal(true);
  });
});
