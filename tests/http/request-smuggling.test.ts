import { expect } from 'chai';
import { received, statusesIn } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';

/** RFC 9112 section 11.2: what a proxy in front and the service behind could take for two different messages. */
const AMBIGUOUS: Readonly<Record<string, { fields?: string; body?: string }>> = {
  'a length beside chunks': { fields: 'Content-Length: 6\r\nTransfer-Encoding: chunked', body: '0\r\n\r\n' },
  'chunks beside a length': { fields: 'Transfer-Encoding: chunked\r\nContent-Length: 6', body: '0\r\n\r\n' },
  'two lengths': { fields: 'Content-Length: 0\r\nContent-Length: 5' },
  'a list of lengths': { fields: 'Content-Length: 0, 0' },
  'a length with a sign': { fields: 'Content-Length: +0' },
  'a space before the colon': { fields: 'Transfer-Encoding : chunked', body: '0\r\n\r\n' },
  'a coding that is almost chunked': { fields: 'Transfer-Encoding: xchunked', body: '0\r\n\r\n' },
  'chunks that are not the last coding': {
    fields: 'Transfer-Encoding: chunked, identity',
    body: '0\r\n\r\n',
  },
  'two lines of codings': {
    fields: 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    body: '0\r\n\r\n',
  },
  'a folded field': { fields: 'Transfer-Encoding:\r\n chunked', body: '0\r\n\r\n' },
  'a field that ends in a bare line feed': { fields: 'X: a\nContent-Length: 5' },
  'a bare carriage return in a field': { fields: 'X: a\rContent-Length: 5' },
  'a NUL in a field': { fields: 'X: a\0b' },
  'an extension of a chunk with a bare line feed': {
    fields: 'Transfer-Encoding: chunked',
    body: '0;a=\n\r\n\r\n',
  },
  'a size of a chunk that is no number': { fields: 'Transfer-Encoding: chunked', body: '0x0\r\n\r\n' },
  'a size of a chunk over 64 bits': {
    fields: 'Transfer-Encoding: chunked',
    body: 'FFFFFFFFFFFFFFFF1\r\n\r\n',
  },
  'a chunk behind whose size is a bare line feed': {
    fields: 'Transfer-Encoding: chunked',
    body: '1\nA0\r\n\r\n',
  },
  'a length in the trailer': {
    fields: 'Transfer-Encoding: chunked',
    body: '0\r\nContent-Length: 50\r\n\r\n',
  },
};

describe('a message behind a proxy', () => {
  const service = inProcessService({ TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1' });
  const HEAD = 'Host: x\r\nX-Forwarded-Proto: https';
  const HIDDEN = `GET /hidden HTTP/1.1\r\n${HEAD}\r\nConnection: close\r\n\r\n`;

  for (const [what, { fields = '', body = '' }] of Object.entries(AMBIGUOUS)) {
    it(`with ${what} is refused, and what it hides is not answered`, async () => {
      const message = `POST /nowhere HTTP/1.1\r\n${HEAD}\r\n${fields}\r\n\r\n${body}`;
      expect(statusesIn(await service.client.raw(message + HIDDEN))).to.deep.equal([
        [400, 'invalid_parameter'],
      ]);
    });
  }

  for (const [what, fields] of Object.entries({
    'as WebSocket': 'Connection: Upgrade\r\nUpgrade: websocket',
    'as HTTP/2': 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ',
    'as anything, but only here or there': 'Upgrade: h2c',
    'without saying as what': 'Connection: upgrade',
  })) {
    it(`that asks to go on ${what} is answered as HTTP/1.1, and nothing behind it is`, async () => {
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
        // To a proxy the second is one message, whose body comes in a packet of its own.
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

  it('says how it came by X-Forwarded-Proto alone, and not by what only looks like it', async () => {
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
