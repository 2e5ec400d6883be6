import { expect } from 'chai';
import { createPlainServer } from '#src/adapters/inbound/http/server/server.js';

describe('createPlainServer', () => {
  it('limits the time of headers, of a request and of an idle connection', () => {
    const { headersTimeout, requestTimeout, timeout, keepAliveTimeout } = createPlainServer(() => {});
    expect({ headersTimeout, requestTimeout, timeout, keepAliveTimeout }).to.deep.equal({
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      timeout: 30_000,
      keepAliveTimeout: 65_000,
    });
  });
});
