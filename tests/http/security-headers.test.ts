import { expect } from 'chai';
import { HttpClient } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};
const REPORTING = ['server', 'x-powered-by', 'via', 'x-aspnet-version'];
const FIRST_LINES = {
  'a record': 'GET /products/1 HTTP/1.1',
  'a list': 'GET /v1/products HTTP/1.1',
  'its head': 'HEAD /products HTTP/1.1',
  'no token': 'GET /users HTTP/1.1\r\nAuthorization: Bearer nobody',
  'no such address': 'GET /nowhere HTTP/1.1',
  'no such method': 'POST /products/1 HTTP/1.1',
  'the methods': 'OPTIONS /products HTTP/1.1',
  'a probe': 'GET /health/live HTTP/1.1',
  'a tunnel': 'CONNECT x:443 HTTP/1.1',
  'an unknown method': 'BREW / HTTP/1.1',
  'headers far too large': `GET / HTTP/1.1\r\nX: ${'x'.repeat(70_000)}`,
  'a broken message': 'GET / HTTP/1.1\r\nBad Header: x',
  'what is no HTTP': 'nonsense',
};

describe('what keeps browsers from misreading an answer', () => {
  const service = inProcessService({ PUBLIC_READ: 'products' });
  /** The fields of the one answer; a field that is there twice has its values joined. */
  const fieldsOf = async (client: HttpClient, firstLine: string) => {
    const text = await client.raw(`${firstLine}\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const [, ...lines] = (text.split('\r\n\r\n')[0] ?? '').split('\r\n');
    const fields: Record<string, string> = {};
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(line) ?? [];
      const known = fields[name.toLowerCase()];
      fields[name.toLowerCase()] = known === undefined ? value : `${known}, ${value}`;
    }
    return fields;
  };
  const expectProtected = (fields: Record<string, string>, what: string) => {
    expect(fields, what).to.include(SECURITY_HEADERS);
    expect(fields, what).to.not.have.any.keys(...REPORTING);
  };

  before(async () => {
    await service.client.post('/products', { name: 'Lamp' });
  });

  for (const [what, firstLine] of Object.entries(FIRST_LINES)) {
    it(`is with the answer to ${what}, and nothing tells what program it is`, async () => {
      expectProtected(await fieldsOf(service.client, firstLine), what);
    });
  }

  it('is with an answer that says that nothing has changed, and with one that has no body', async () => {
    const { headers } = await service.client.get('/products/1');
    const same = await service.client.get('/products/1', {
      headers: { 'If-None-Match': String(headers.etag) },
    });
    const gone = await service.client.delete('/products/1');
    expect([same.status, gone.status]).to.deep.equal([304, 204]);
    for (const response of [same, gone]) expect(response.headers).to.include(SECURITY_HEADERS);
  });

  it('is on the management port too', async () => {
    const client = new HttpClient(service.managementPort, undefined, FIRST_KEY);
    for (const firstLine of ['GET /metrics HTTP/1.1', 'GET /nowhere HTTP/1.1', 'nonsense'])
      expectProtected(await fieldsOf(client, firstLine), firstLine);
    client.close();
  });
});
