import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { directClientIp } from '#src/adapters/inbound/http/middleware/client-ip.js';
import { LocalCa } from '#src/adapters/outbound/certificates/local-ca.js';
import { listen } from '#src/composition/listen.js';
import { type Certificates, TlsTransport } from '#src/composition/tls-transport.js';
import { FakeClock, RecordingLogger } from '../../support/fakes.js';
import { HttpClient } from '../../support/http-client.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const DAY_MS = 86_400_000;
const CHECK_MS = 10;

describe('the transport that ends TLS', () => {
  const folder = temporaryFolder();
  // So far back that what the tests reach is now: clients go by the true time.
  const clock = new FakeClock(Date.now() - 369 * DAY_MS);
  const certificates = new LocalCa(join(folder, 'tls'), clock);
  const issue = { current: undefined as string | undefined, looks: 0 };
  const failing: Certificates = {
    current: async () => {
      issue.looks++;
      if (issue.current) throw new Error(issue.current);
      return certificates.current();
    },
  };
  const logger = new RecordingLogger();
  const transport = new TlsTransport(failing, {
    clientIp: directClientIp,
    headers: {},
    checkMs: CHECK_MS,
    authorityFile: certificates.authorityFile,
    logger,
  });
  let server: Server;
  let port: number;
  const serialPresented = async () => {
    const ca = readFileSync(certificates.authorityFile);
    const socket = connect({ port, host: 'localhost', ca });
    await once(socket, 'secureConnect');
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };
  const looksMore = async () => {
    for (const enough = issue.looks + 5; issue.looks < enough; ) await sleep(CHECK_MS);
  };

  before(async () => {
    server = await transport.open((_request, response) => void response.end('here'));
    port = await listen(server, '127.0.0.1', 0);
  });
  after(() => {
    transport.close();
    server.close();
    server.closeAllConnections();
  });

  it('says once that no certificate can be had, however often it looks, and again when that comes again', async () => {
    const before = await serialPresented();
    const trouble = 'the certificate could not be renewed';
    issue.current = 'no such file';
    await looksMore();
    expect(logger.events).to.deep.equal([trouble]);
    issue.current = undefined;
    await looksMore();
    issue.current = 'no such file';
    await looksMore();
    issue.current = undefined;
    await looksMore();
    expect(logger.events.splice(0)).to.deep.equal([trouble, trouble]);
    expect(await serialPresented()).to.equal(before);
  });

  it('shows a self-signed one that was renewed while it runs, by the same CA, and drops no connection', async () => {
    const client = new HttpClient(port, certificates.authorityFile, '');
    const kept = await client.connect();
    const request = async () => {
      kept.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      return String((await once(kept, 'data'))[0]).slice(0, 15);
    };
    expect(await request()).to.equal('HTTP/1.1 200 OK');
    const [authority, before] = [readFileSync(certificates.authorityFile, 'utf8'), await serialPresented()];
    clock.time += 366 * DAY_MS;
    await looksMore();
    expect(await serialPresented()).to.equal(before);
    clock.time += 2 * DAY_MS;
    await looksMore();
    expect(await serialPresented()).to.not.equal(before);
    expect(readFileSync(certificates.authorityFile, 'utf8')).to.equal(authority);
    expect(logger.events).to.deep.equal(['certificate reloaded']);
    expect(await request()).to.equal('HTTP/1.1 200 OK');
    kept.destroy();
    client.close();
  });
});
