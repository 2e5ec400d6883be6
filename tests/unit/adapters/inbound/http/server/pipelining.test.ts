import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { MAX_WAITING, PipelinedRequests } from '#src/adapters/inbound/http/server/pipelining.js';

describe('the requests of a connection', () => {
  it(`of which ${MAX_WAITING} wait are not joined by another: the connection is closed`, () => {
    const begun: IncomingMessage[] = [];
    const requests = new PipelinedRequests(
      (request) => begun.push(request),
      () => {},
    );
    const socket = new Socket();
    const arrive = () => {
      const request = new IncomingMessage(socket);
      requests.add(request, new ServerResponse(request));
    };
    for (let count = 0; count <= MAX_WAITING; count++) arrive();
    expect(socket.destroyed).to.equal(false);
    arrive();
    expect(socket.destroyed).to.equal(true);
    expect(begun).to.have.lengthOf(1);
  });
});
