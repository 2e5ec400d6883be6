import { expect } from 'chai';
import { createPlainServer } from '#src/adapters/inbound/http/server/server.js';

describe('createPlainServer', () => {
  it('limits the time of headers, of a request and of an idle connection', () => {
    const { headersTimeout, requestTimeout, timeout, keepAliveTimeout } = createPlainServer(() => {});
    const seconds = [headersTimeout, requestTimeout, timeout, keepAliveTimeout].map((ms) => ms / 1_000);
    expect(seconds).to.deep.equal([10, 30, 30, 65]);
  });
});
