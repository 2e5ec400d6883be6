import { expect } from 'chai';
import { HttpClient } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};
const REVEALING_HEADERS = ['server', 'x-powered-by', 'via', 'x-aspnet-version'];
const FIRST_LINES = {
  'a record': 'GET /products/1 HTTP/1.1',
  'a list': 'GET /v1/products HTTP/1.1',
  'a HEAD request': 'HEAD /products HTTP/1.1',
  'an invalid token': 'GET /users HTTP/1.1\r\nAuthorization: Bearer nobody',
  'an unknown path': 'GET /nowhere HTTP/1.1',
  'an unsupported method': 'POST /products/1 HTTP/1.1',
  OPTIONS: 'OPTIONS /products HTTP/1.1',
  'a probe': 'GET /health/live HTTP/1.1',
  CONNECT: 'CONNECT x:443 HTTP/1.1',
  'an unknown method': 'BREW / HTTP/1.1',
  'too large headers': `GET / HTTP/1.1\r\nX: ${'x'.repeat(70_000)}`,
  'a malformed header': 'GET / HTTP/1.1\r\nBad Header: x',
  'bytes that are not HTTP': 'nonsense',
};

describe('the security headers', () => {
  const service = inProcessService({ PUBLIC_READ: 'products' });
  /** @returns the headers of the only response; the values of duplicate headers are joined */
  const headersOf = async (client: HttpClient, firstLine: string) => {
    const text = await client.raw(`${firstLine}\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const [, ...lines] = (text.split('\r\n\r\n')[0] ?? '').split('\r\n');
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(line) ?? [];
      const existing = headers[name.toLowerCase()];
      headers[name.toLowerCase()] = existing === undefined ? value : `${existing}, ${value}`;
    }
    return headers;
  };
  const expectProtected = (headers: Record<string, string>, message: string) => {
    expect(headers, message).to.include(SECURITY_HEADERS);
    expect(headers, message).to.not.have.any.keys(...REVEALING_HEADERS);
  };

  before(() => service.post('/products', { name: 'Lamp' }));

  for (const [title, firstLine] of Object.entries(FIRST_LINES))
    it(`are in the response to ${title}, which does not reveal the software`, async () => {
      expectProtected(await headersOf(service.client, firstLine), title);
    });

  it('are in a 304 and a 204 response', async () => {
    const { headers } = await service.get('/products/1');
    const unchanged = await service.get('/products/1', { headers: { 'If-None-Match': String(headers.etag) } });
    const deleted = await service.delete('/products/1');
    expect([unchanged.status, deleted.status]).to.deep.equal([304, 204]);
    for (const response of [unchanged, deleted]) expect(response.headers).to.include(SECURITY_HEADERS);
  });

  it('are on the management port too', async () => {
    const client = new HttpClient(service.managementPort, undefined, FIRST_KEY);
    for (const firstLine of ['GET /metrics HTTP/1.1', 'GET /nowhere HTTP/1.1', 'nonsense'])
      expectProtected(await headersOf(client, firstLine), firstLine);
    client.close();
  });
});
