import { connect } from 'node:net';
import { expect } from 'chai';
import { FRAMING_CASES } from '../support/framing-cases.js';
import { exchange, faultsOf, whole } from '../support/framing-exchange.js';
import { received, statusesIn } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { inParallel } from '../support/parallel-limits.js';

const CONNECTIONS = 24;

describe('a message behind a proxy', () => {
  const service = inProcessService({ TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1' });
  const HEAD = 'Host: x\r\nX-Forwarded-Proto: https';

  /** `campaigns/faults/framing.test.ts` sends them in pieces too, over TLS and through proxies, and reads the log. */
  it('of bytes that no HTTP client sends gets the expected responses, and so does the request behind it', async () => {
    // The record that a few cases read.
    const headers = { 'X-Forwarded-Proto': 'https' };
    await service.client.post('/v1/products', { name: 'Lamp' }, { headers });
    const open = () => connect(service.port, '127.0.0.1');
    const faults: string[] = [];
    await inParallel(CONNECTIONS, FRAMING_CASES, async (tested) => {
      const found = faultsOf(await exchange(tested, open, 'whole', whole));
      faults.push(...found.map((fault) => `${tested.title}: ${fault}`));
    });
    expect(faults).to.deep.equal([]);
  });

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
