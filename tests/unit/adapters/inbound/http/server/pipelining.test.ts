import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { MAX_WAITING, PipelinedRequests } from '#src/adapters/inbound/http/server/pipelining.js';

describe('PipelinedRequests', () => {
  it(`closes a connection with more than ${MAX_WAITING} waiting requests`, () => {
    const started: IncomingMessage[] = [];
    const requests = new PipelinedRequests(
      (request) => started.push(request),
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
    expect(started).to.have.lengthOf(1);
  });
});
