import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { Connection, MAX_WAITING } from '#src/adapters/inbound/http/server/connection.js';

describe('a pipeline', () => {
  it(`closes a connection with more than ${MAX_WAITING} waiting requests`, () => {
    const started: IncomingMessage[] = [];
    const socket = new Socket();
    const peer = { network: 'here', connections: 1, waiting: 0 };
    const { pipeline } = new Connection(socket, peer, { handle: (request) => started.push(request) });
    const arrive = () => {
      const request = new IncomingMessage(socket);
      pipeline.add(request, new ServerResponse(request));
    };
    for (let count = 0; count <= MAX_WAITING; count++) arrive();
    expect(socket.destroyed).to.equal(false);
    arrive();
    expect(socket.destroyed).to.equal(true);
    expect(started).to.have.lengthOf(1);
  });
});
