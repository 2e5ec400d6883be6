import { createServer, type RequestListener, type Server } from 'node:http';
import { expect } from 'chai';
import { HeaderListResponse } from '#src/adapters/inbound/http/server/header-list-response.js';
import { listen } from '#src/process/listen.js';

/** The raw headers of one response, without those that Node adds. */
async function sent(respond: (response: HeaderListResponse) => void): Promise<string[]> {
  const listener = (_request: unknown, response: HeaderListResponse) => respond(response);
  const server: Server = createServer({ ServerResponse: HeaderListResponse }, listener as RequestListener);
  try {
    const response = await fetch(`http://127.0.0.1:${await listen(server, '127.0.0.1', 0)}/`);
    await response.text();
    return [...response.headers]
      .filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name))
      .map(([name, value]) => `${name}: ${value}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

describe('HeaderListResponse', () => {
  it('sends each header once, with its last value, whatever the case of its name', async () => {
    const headers = await sent((response) => {
      response.setHeader('X-A', '1').setHeader('X-B', '2').setHeader('x-a', '3').end('body');
    });
    expect(headers).to.deep.equal(['content-length: 4', 'x-a: 3', 'x-b: 2']);
  });

  it('sends each value of a list, and no removed header', async () => {
    const headers = await sent((response) => {
      response.setHeader('Set-Cookie', ['a=1', 'b=2']);
      response.setHeader('X-A', 1);
      response.removeHeader('x-a');
      response.removeHeader('x-unknown');
      response.end();
    });
    expect(headers).to.deep.equal(['content-length: 0', 'set-cookie: a=1', 'set-cookie: b=2']);
  });

  it('reads headers whatever the case of their names', async () => {
    const seen: unknown[] = [];
    await sent((response) => {
      response.setHeader('X-A', 'a').setHeader('ETag', '"1"');
      seen.push(response.getHeader('x-A'), response.getHeader('x-b'), response.hasHeader('etag'));
      seen.push(response.hasHeader('e-tag'), response.getHeaderNames(), response.getHeaders());
      response.end();
    });
    expect(seen).to.deep.equal(['a', undefined, true, false, ['x-a', 'etag'], { 'x-a': 'a', etag: '"1"' }]);
  });

  it('sends the reason and the headers that are given with the status', async () => {
    for (const given of [{ 'x-a': '2', 'X-B': ['3', '4'] }, ['x-a', '2', 'X-B', ['3', '4']]]) {
      const headers = await sent((response) => {
        response.setHeader('X-A', '1').writeHead(299, 'Fine', given).end();
        expect([response.statusCode, response.statusMessage]).to.deep.equal([299, 'Fine']);
      });
      expect(headers).to.deep.equal(['transfer-encoding: chunked', 'x-a: 2', 'x-b: 3, 4']);
    }
    const headers = await sent((response) => {
      response.writeHead(200, { 'Content-Length': 0 }).end();
    });
    expect(headers).to.deep.equal(['content-length: 0']);
  });

  it('adds values to a header', async () => {
    const headers = await sent((response) => {
      response.appendHeader('X-A', '1').appendHeader('x-a', ['2', '3']).appendHeader('X-A', '4');
      response.setHeaders(new Map([['X-B', '5']])).end();
    });
    expect(headers).to.deep.equal(['content-length: 0', 'x-a: 1, 2, 3, 4', 'x-b: 5']);
  });

  it('rejects changes after the headers are sent', async () => {
    await sent((response) => {
      response.setHeader('X-A', '1').flushHeaders();
      for (const change of [
        () => response.setHeader('X-A', '2'),
        () => response.appendHeader('X-A', '2'),
        () => response.removeHeader('X-A'),
        () => response.writeHead(200, { 'X-A': '2' }),
      ])
        expect(change).to.throw().with.property('code', 'ERR_HTTP_HEADERS_SENT');
      expect(response.getHeader('X-A')).to.equal('1');
      response.end();
    });
  });

  it('rejects an invalid value when it is set, so that no stream fails on it later', async () => {
    await sent((response) => {
      for (const [value, code] of [
        ['a\r\nX-B: b', 'ERR_INVALID_CHAR'],
        [undefined, 'ERR_HTTP_INVALID_HEADER_VALUE'],
      ] as const)
        expect(() => response.setHeader('X-A', value as string))
          .to.throw()
          .with.property('code', code);
      response.end();
    });
  });

  it('rejects an invalid name when the headers are sent', async () => {
    await sent((response) => {
      response.setHeader('X A', 'a');
      expect(() => response.writeHead(200))
        .to.throw()
        .with.property('code', 'ERR_INVALID_HTTP_TOKEN');
      response.removeHeader('X A');
      response.end();
    });
  });
});
