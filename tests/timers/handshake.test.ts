import { readFileSync } from 'node:fs';
import { connect as netConnect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { createTlsServer, replaceIdentity } from '#src/adapters/inbound/http/server/server.js';
import { listen } from '#src/process/listen.js';
import { serverPair } from '../support/certificates.js';
import { received } from '../support/http-client.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const HANDSHAKE_MS = 400;
const TLS_1_2: ConnectionOptions = { maxVersion: 'TLSv1.2' };

/**
 * @returns a TLS 1.2 ClientHello (RFC 5246 section 7.4.1.2) with ECDHE-ECDSA-AES128-GCM-SHA256, which prefers
 * compression (RFC 3749) to none
 */
function helloWithCompression(): Buffer {
  const extensions = Buffer.from('000a000400020017' + '000b00020100' + '000d000400020403', 'hex');
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    Buffer.from([0, 0, 2, 0xc0, 0x2b, 2, 1, 0, 0, extensions.length]),
    extensions,
  ]);
  return Buffer.concat([Buffer.from([22, 3, 1, 0, body.length + 4, 1, 0, 0, body.length]), body]);
}

describe('a TLS handshake', () => {
  const folder = temporaryFolder();
  const timeouts = { handshakeMs: HANDSHAKE_MS, headersMs: 10_000, requestMs: 10_000, silenceMs: 10_000 };
  let server: ReturnType<typeof createTlsServer>;
  let port: number;
  let ca: Buffer;
  const connectTls = (options: ConnectionOptions = {}) =>
    new Promise<TLSSocket | undefined>((resolve) => {
      const socket = connect({ port, host: 'localhost', ca, ...options }, () => resolve(socket));
      socket.once('error', () => resolve(undefined));
    });
  const succeeds = async (options: ConnectionOptions) => {
    const socket = await connectTls(options);
    socket?.destroy();
    return socket !== undefined;
  };

  before(async () => {
    const { authority, ...identity } = await serverPair(folder);
    ca = readFileSync(authority);
    server = createTlsServer(identity, (_request, response) => response.end('here'), { timeouts });
    port = await listen(server, '127.0.0.1', 0);
    // The properties below must also hold after a certificate reload.
    replaceIdentity(server, identity);
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  it('succeeds on the usual curves, and fails on groups that are far more expensive for the server', async () => {
    for (const group of ['X25519', 'prime256v1', 'secp384r1'])
      expect(await succeeds({ ecdhCurve: group }), group).to.equal(true);
    for (const group of ['ffdhe2048', 'ffdhe8192', 'secp521r1', 'X448'])
      expect(await succeeds({ ecdhCurve: group }), group).to.equal(false);
    expect(await succeeds({ ...TLS_1_2, ciphers: 'DHE-RSA-AES128-GCM-SHA256' })).to.equal(false);
  });

  it('cannot be renegotiated on a TLS 1.2 connection', async () => {
    const socket = await connectTls(TLS_1_2);
    const again = await new Promise<string>((resolve) => {
      socket?.once('error', () => resolve('refused'));
      socket?.renegotiate({}, (error) => resolve(error ? 'refused' : 'done'));
    });
    expect(again).to.equal('refused');
  });

  it('never selects compression, even if the client prefers it', async () => {
    const socket = netConnect(port, '127.0.0.1');
    socket.write(helloWithCompression());
    const chunk = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
    socket.destroy();
    const [kind, handshake] = [chunk[0], chunk[5]];
    expect([kind, handshake]).to.deep.equal([22, 2]);
    const sessionLength = chunk[43] ?? 0;
    expect(chunk.readUInt16BE(44 + sessionLength)).to.equal(0xc02b);
    expect(chunk[46 + sessionLength]).to.equal(0);
  });

  it('that arrives byte by byte is cut off by the handshake timeout', async () => {
    const socket = netConnect(port, '127.0.0.1');
    const hello = helloWithCompression();
    let sent = 0;
    // Its last byte is never sent, so that nothing but the timeout ends the connection.
    const timer = setInterval(() => {
      if (sent < hello.length - 1) socket.write(hello.subarray(sent, ++sent));
    }, HANDSHAKE_MS / 8);
    const guard = sleep(60_000, 'it is still open', { ref: false });
    const text = await Promise.race([received(socket), guard]);
    clearInterval(timer);
    socket.destroy();
    expect(text).to.equal('');
  });
});
