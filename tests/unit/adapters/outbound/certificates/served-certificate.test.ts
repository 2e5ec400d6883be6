import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import type { Server } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { createTlsServer, replaceIdentity } from '#src/adapters/inbound/http/server/server.js';
import { FileCertificates } from '#src/adapters/outbound/certificates/file-certificates.js';
import { LocalCa } from '#src/adapters/outbound/certificates/local-ca.js';
import { type Certificates, ServedCertificate } from '#src/adapters/outbound/certificates/served-certificate.js';
import { SystemClock } from '#src/adapters/outbound/system/clock.js';
import { listen } from '#src/process/listen.js';
import { serverPair } from '../../../../support/certificates.js';
import { FakeClock, RecordingLogger } from '../../../../support/fakes.js';
import { HttpClient } from '../../../../support/http-client.js';
import { temporaryFolder } from '../../../../support/temporary-folder.js';
import { until } from '../../../../support/until.js';

const DAY_MS = 86_400_000;
const CHECK_MS = 10;

/** Returns a server that presents a certificate, and the newer ones. */
async function serving(
  certificate: ServedCertificate,
  listener: RequestListener,
): Promise<[server: Server, port: number]> {
  const identity = await certificate.open((newer) => replaceIdentity(server, newer));
  const server = createTlsServer(identity, listener, { headers: {}, publicUrl: () => 'https://x.example' });
  return [server, await listen(server, '127.0.0.1', 0)];
}

describe('ServedCertificate', () => {
  const folder = temporaryFolder();
  // Starts 369 days ago, because clients check certificates by the real time and the tests move the clock to it.
  const clock = new FakeClock(Date.now() - 369 * DAY_MS);
  const certificates = new LocalCa(join(folder, 'tls'), clock, ['shop.example']);
  const renewal = { error: undefined as string | undefined, checks: 0 };
  const failing: Certificates = {
    current: async () => {
      renewal.checks++;
      if (renewal.error) throw new Error(renewal.error);
      return certificates.current();
    },
  };
  const logger = new RecordingLogger();
  const { authorityFile } = certificates;
  const certificate = new ServedCertificate(failing, { checkMs: CHECK_MS, authorityFile, logger });
  let server: Server;
  let port: number;
  const presentedSerial = async () => {
    const ca = readFileSync(certificates.authorityFile);
    const socket = connect({ port, host: 'localhost', ca });
    await once(socket, 'secureConnect');
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };
  const moreChecks = async () => {
    const enough = renewal.checks + 5;
    await until('more checks', () => renewal.checks >= enough);
  };

  before(async () => ([server, port] = await serving(certificate, (_request, response) => void response.end('here'))));
  after(() => {
    certificate.close();
    server.close();
    server.closeAllConnections();
  });

  it('logs a failed renewal once until a renewal succeeds, and then logs the next failure', async () => {
    const before = await presentedSerial();
    const warning = 'the certificate could not be renewed';
    renewal.error = 'no such file';
    await moreChecks();
    expect(logger.events).to.deep.equal([warning]);
    renewal.error = undefined;
    await moreChecks();
    renewal.error = 'no such file';
    await moreChecks();
    renewal.error = undefined;
    await moreChecks();
    expect(logger.events.splice(0)).to.deep.equal([warning, warning]);
    expect(await presentedSerial()).to.equal(before);
  });

  it('presents a renewed certificate of the same CA without a restart, and drops no connection', async () => {
    const client = new HttpClient(port, certificates.authorityFile, '');
    const connection = await client.connect();
    const request = async () => {
      connection.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      return String((await once(connection, 'data'))[0]).slice(0, 15);
    };
    expect(await request()).to.equal('HTTP/1.1 200 OK');
    const [authority, before] = [readFileSync(certificates.authorityFile, 'utf8'), await presentedSerial()];
    clock.time += 366 * DAY_MS;
    await moreChecks();
    expect(await presentedSerial()).to.equal(before);
    const daysLeft = () => Math.round(((certificate.expiry ?? 0) - clock.time) / DAY_MS);
    expect(daysLeft()).to.equal(31);
    clock.time += 2 * DAY_MS;
    await moreChecks();
    expect(await presentedSerial()).to.not.equal(before);
    expect(daysLeft()).to.equal(397);
    expect(readFileSync(certificates.authorityFile, 'utf8')).to.equal(authority);
    expect(logger.events).to.deep.equal(['certificate reloaded']);
    expect(await request()).to.equal('HTTP/1.1 200 OK');
    connection.destroy();
    client.close();
  });

  it('renews a certificate without one of its names, which another process has stored', async () => {
    logger.events.length = 0;
    const before = await presentedSerial();
    const { cert } = await new LocalCa(join(folder, 'tls'), clock, ['other.example']).current();
    expect(new X509Certificate(cert).checkHost('shop.example')).to.equal(undefined);
    await moreChecks();
    const stored = await certificates.current();
    expect(new X509Certificate(stored.cert).checkHost('shop.example')).to.equal('shop.example');
    expect(await presentedSerial())
      .to.equal(new X509Certificate(stored.cert).serialNumber)
      .and.not.equal(before);
    expect(logger.events).to.include('certificate reloaded');
  });

  it('warns of a new authority after its folder was deleted, and does not call it reloaded', async () => {
    logger.events.length = 0;
    const before = await presentedSerial();
    rmSync(join(folder, 'tls'), { recursive: true });
    await until('another certificate is presented', async () => (await presentedSerial()) !== before);
    expect(logger.events).to.deep.equal([
      'the certificate is of a new certificate authority; clients refuse the service until they trust it',
    ]);
  });
});

describe('ServedCertificate of files', () => {
  const folder = temporaryFolder();
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };

  it('presents the certificate while the new files are half written, missing or mismatched', async () => {
    const [one, two] = [await serverPair(join(folder, 'one')), await serverPair(join(folder, 'two'))];
    writeFileSync(files.certFile, one.cert);
    writeFileSync(files.keyFile, one.key);
    let checks = 0;
    const certificates = new FileCertificates(files, new SystemClock(), new RecordingLogger(), async () => {});
    const counted: Certificates = { current: () => certificates.current().finally(() => checks++) };
    const certificate = new ServedCertificate(counted, {
      checkMs: CHECK_MS,
      authorityFile: undefined,
      logger: new RecordingLogger(),
    });
    const [server, port] = await serving(certificate, (_request, response) => void response.end());
    const presents = async ({ authority, cert }: typeof one) => {
      const socket = connect({ port, host: 'localhost', ca: readFileSync(authority) });
      const isTrusted = await once(socket, 'secureConnect').then(
        () => true,
        () => false,
      );
      const presented = socket.getPeerX509Certificate();
      socket.destroy();
      return isTrusted && presented?.fingerprint256 === new X509Certificate(cert).fingerprint256;
    };
    try {
      for (const spoil of [
        () => writeFileSync(files.certFile, two.cert.slice(0, two.cert.length / 2)),
        () => writeFileSync(files.certFile, ''),
        () => rmSync(files.certFile),
        () => writeFileSync(files.certFile, two.cert),
      ]) {
        spoil();
        // The check that runs meanwhile may have read the file before.
        const enough = checks + 2;
        await until('a check', () => checks >= enough);
        expect(await presents(one), spoil.toString()).to.equal(true);
      }
      writeFileSync(files.keyFile, two.key);
      await until('the other certificate', () => presents(two));
    } finally {
      certificate.close();
      server.close();
    }
  });
});
