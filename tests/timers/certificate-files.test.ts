import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { serverPair } from '../support/certificates.js';
import { HttpClient } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

describe('a certificate from files', () => {
  const root = temporaryFolder();
  const live = join(root, 'live');
  const files = { TLS_CERT_FILE: join(live, 'cert.pem'), TLS_KEY_FILE: join(live, 'key.pem') };
  let pairs: { cert: string; key: string; authority: string }[] = [];

  /** Swaps the folder as Kubernetes does for a mounted secret: renames a symbolic link over the old one. */
  const swapTo = (which: number) => {
    symlinkSync(join(root, `version-${which}`), join(root, 'next'));
    renameSync(join(root, 'next'), live);
  };
  const certificateFor = async (authority: string, options: object = {}) => {
    const ca = readFileSync(authority);
    const socket = connect({ port: service.port, host: 'localhost', ca, ...options });
    try {
      await once(socket, 'secureConnect');
      return socket.getPeerX509Certificate()?.toString();
    } catch {
      return undefined;
    } finally {
      socket.destroy();
    }
  };
  const isPresented = async (which: number) => {
    const { authority = '', cert = '' } = pairs[which] ?? {};
    return (await certificateFor(authority))?.trim() === cert.trim();
  };
  const becomesPresented = (which: number) => until('the other certificate is presented', () => isPresented(which));

  before(async () => {
    pairs = await Promise.all([0, 1].map((which) => serverPair(join(root, `issuer-${which}`))));
    for (const [which, { cert, key }] of pairs.entries()) {
      mkdirSync(join(root, `version-${which}`));
      writeFileSync(join(root, `version-${which}`, 'cert.pem'), cert);
      writeFileSync(join(root, `version-${which}`, 'key.pem'), key);
    }
    swapTo(0);
  });
  const service = inProcessService({ TLS: 'files', ...files });
  const client = (which: number) => new HttpClient(service.port, pairs[which]?.authority, FIRST_KEY);

  it('is presented, and every response has Strict-Transport-Security', async () => {
    expect(await isPresented(0)).to.equal(true);
    const http = client(0);
    for (const path of ['/products', '/nowhere', '/health/live'])
      expect((await http.get(path)).headers['strict-transport-security'], path).to.equal('max-age=31536000');
    expect(await http.raw('nonsense\r\n\r\n')).to.match(/\r\nStrict-Transport-Security: max-age=31536000\r\n/);
    http.close();
  });

  it('is reloaded after a symlink swap, without dropping connections', async () => {
    const socket = await client(0).connect();
    const request = async () => {
      socket.write(`GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n`);
      const [response] = await once(socket, 'data');
      return String(response).slice(0, 12);
    };
    expect(await request()).to.equal('HTTP/1.1 200');
    swapTo(1);
    await becomesPresented(1);
    expect(await isPresented(0)).to.equal(false);
    expect(await request()).to.equal('HTTP/1.1 200');
    socket.destroy();
  });

  it('offers the same cipher suites after a reload', async () => {
    const { authority = '' } = pairs[1] ?? {};
    const ciphers = ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES128-SHA256', 'ECDHE-ECDSA-AES256-SHA'];
    const shownFor = (suite: string) => certificateFor(authority, { maxVersion: 'TLSv1.2', ciphers: suite });
    const shown = await Promise.all(ciphers.map(shownFor));
    expect(shown.map(Boolean)).to.deep.equal([true, false, false]);
  });

  it('can be overwritten in small steps without a failed handshake', async () => {
    const { cert = '', key = '', authority = '' } = pairs[0] ?? {};
    const before = pairs[1]?.authority ?? '';
    let isWriting = true;
    const failed: number[] = [];
    const handshakes = (async () => {
      for (let i = 0; isWriting; i++, await sleep(10))
        if (!(await certificateFor(before)) && !(await certificateFor(authority))) failed.push(i);
    })();
    for (const [file, text] of [
      [files.TLS_KEY_FILE, key],
      [files.TLS_CERT_FILE, cert],
    ] as const) {
      for (let length = 0; length < text.length; length += 100) {
        writeFileSync(file, text.slice(0, length));
        await sleep(20);
      }
      writeFileSync(file, text);
    }
    await becomesPresented(0);
    isWriting = false;
    await handshakes;
    expect(failed).to.deep.equal([]);
  });
});
