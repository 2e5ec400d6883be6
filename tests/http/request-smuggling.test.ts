import { expect } from 'chai';
import { received, statusesIn } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';

/** Messages that a proxy and the service behind it could parse differently (RFC 9112 section 11.2). */
const AMBIGUOUS: Readonly<Record<string, { fields?: string; body?: string }>> = {
  'Content-Length before chunked': {
    fields: 'Content-Length: 6\r\nTransfer-Encoding: chunked',
    body: '0\r\n\r\n',
  },
  'Content-Length after chunked': {
    fields: 'Transfer-Encoding: chunked\r\nContent-Length: 6',
    body: '0\r\n\r\n',
  },
  'two Content-Length headers': { fields: 'Content-Length: 0\r\nContent-Length: 5' },
  'a list as Content-Length': { fields: 'Content-Length: 0, 0' },
  'a signed Content-Length': { fields: 'Content-Length: +0' },
  'a space before the colon': { fields: 'Transfer-Encoding : chunked', body: '0\r\n\r\n' },
  'an unknown transfer coding': { fields: 'Transfer-Encoding: xchunked', body: '0\r\n\r\n' },
  'chunked before another coding': {
    fields: 'Transfer-Encoding: chunked, identity',
    body: '0\r\n\r\n',
  },
  'two Transfer-Encoding headers': {
    fields: 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    body: '0\r\n\r\n',
  },
  'a folded header': { fields: 'Transfer-Encoding:\r\n chunked', body: '0\r\n\r\n' },
  'a header that ends in a bare line feed': { fields: 'X: a\nContent-Length: 5' },
  'a bare carriage return in a header': { fields: 'X: a\rContent-Length: 5' },
  'a NUL in a header': { fields: 'X: a\0b' },
  'a chunk extension with a bare line feed': {
    fields: 'Transfer-Encoding: chunked',
    body: '0;a=\n\r\n\r\n',
  },
  'a chunk size that is not a number': { fields: 'Transfer-Encoding: chunked', body: '0x0\r\n\r\n' },
  'an invalid chunk size behind a valid chunk': {
    fields: 'Transfer-Encoding: chunked',
    body: '5\r\nhello\r\n0x0\r\n\r\n',
  },
  'a chunk size over 64 bits': {
    fields: 'Transfer-Encoding: chunked',
    body: 'FFFFFFFFFFFFFFFF1\r\n\r\n',
  },
  'a bare line feed after the chunk size': {
    fields: 'Transfer-Encoding: chunked',
    body: '1\nA0\r\n\r\n',
  },
  'Content-Length in the trailer': {
    fields: 'Transfer-Encoding: chunked',
    body: '0\r\nContent-Length: 50\r\n\r\n',
  },
};

describe('a message behind a proxy', () => {
  const service = inProcessService({ TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1' });
  const HEAD = 'Host: x\r\nX-Forwarded-Proto: https';
  const HIDDEN = `GET /hidden HTTP/1.1\r\n${HEAD}\r\nConnection: close\r\n\r\n`;

  for (const [title, { fields = '', body = '' }] of Object.entries(AMBIGUOUS)) {
    it(`with ${title} is rejected, and the hidden request gets no response`, async () => {
      const message = `POST /nowhere HTTP/1.1\r\n${HEAD}\r\n${fields}\r\n\r\n${body}`;
      expect(statusesIn(await service.client.raw(message + HIDDEN))).to.deep.equal([
        [400, 'invalid_parameter'],
      ]);
    });
  }

  for (const [title, fields] of Object.entries({
    'to WebSocket': 'Connection: Upgrade\r\nUpgrade: websocket',
    'to HTTP/2': 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ',
    'with Upgrade only': 'Upgrade: h2c',
    'with Connection only': 'Connection: upgrade',
  })) {
    it(`that asks for an upgrade ${title} gets an HTTP/1.1 response, and the hidden request none`, async () => {
      const headers = { 'X-Forwarded-Proto': 'https' };
      const created = await service.client.post('/v1/products', { name: 'Lamp' }, { headers });
      const path = String(created.headers.location);
      const hidden = `DELETE ${path} HTTP/1.1\r\n${HEAD}\r\nAuthorization: Bearer ${FIRST_KEY}\r\n\r\n`;
      for (const [line, body] of [
        ['GET /nowhere HTTP/1.1', ''],
        ['POST /nowhere HTTP/1.1\r\nContent-Length: 5', 'hello'],
      ]) {
        const socket = await service.client.connect();
        const text = received(socket);
        // A proxy sees the second POST as one message, whose body arrives in a separate packet.
        socket.write(
          `${line}\r\n${HEAD}\r\n${fields}\r\n\r\n${body}POST /nowhere HTTP/1.1\r\n${HEAD}\r\nContent-Length: ${hidden.length}\r\n\r\n`,
        );
        setImmediate(() => socket.write(hidden));
        expect(statusesIn(await text), line).to.deep.equal([[404, 'not_found']]);
        expect(await text, line).to.match(/\r\nConnection: close\r\n/);
      }
      expect((await service.client.get(path, { headers })).status).to.equal(200);
    });
  }

  it('counts as HTTPS only by X-Forwarded-Proto, not by similar headers', async () => {
    for (const field of [
      'X_Forwarded_Proto: https',
      'X-Forwarded-Proto\u00a0: https',
      'X-Forwarded-SSL: on',
    ]) {
      const text = await service.client.raw(
        `GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${field}\r\n\r\n`,
      );
      expect(statusesIn(text)[0]?.[0], field).to.be.oneOf([400, 403]);
    }
  });
});
