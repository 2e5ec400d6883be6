import { X509Certificate } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SelfSignedCertificates } from '#src/adapters/outbound/certificates/self-signed-certificates.js';
import { FakeClock } from '../support/fakes.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const DAY_MS = 86_400_000;

describe('self-signed certificates', () => {
  const root = temporaryFolder();
  let made = 0;
  let folder: string;
  let clock: FakeClock;
  const open = () => new SelfSignedCertificates(folder, clock);
  const authority = () => readFileSync(open().authorityFile, 'utf8');

  beforeEach(() => {
    folder = join(root, `${++made}`, 'tls');
    clock = new FakeClock(Date.now());
  });

  it('are made once, and reused', async () => {
    const first = await open().current();
    expect(await open().current()).to.deep.equal(first);
    const certificate = new X509Certificate(first.cert);
    expect(certificate.subjectAltName).to.equal(
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    );
    expect(certificate.verify(new X509Certificate(authority()).publicKey)).to.equal(true);
    expect(new X509Certificate(authority()).ca).to.equal(true);
    expect(certificate.ca).to.equal(false);
  });

  it('keep their keys to the owner', async () => {
    await open().current();
    for (const file of ['ca-key.pem', 'server.pem'])
      expect(statSync(join(folder, file)).mode & 0o077, file).to.equal(0);
  });

  it('are one, however many processes start together', async () => {
    const identities = await Promise.all(Array.from({ length: 10 }, () => open().current()));
    expect(new Set(identities.map(({ cert }) => cert))).to.have.length(1);
    expect(readdirSync(join(folder, '..'))).to.deep.equal(['tls']);
  });

  it('are renewed by the same CA with under 30 days left, and not before', async () => {
    const first = await open().current();
    const old = authority();
    clock.time += 366 * DAY_MS;
    expect(await open().current()).to.deep.equal(first);
    clock.time += 2 * DAY_MS;
    const renewed = await Promise.all([open().current(), open().current()]);
    for (const { cert } of renewed) {
      expect(cert).to.not.equal(first.cert);
      expect(new X509Certificate(cert).verify(new X509Certificate(old).publicKey)).to.equal(true);
    }
    expect(authority()).to.equal(old);
    expect(readdirSync(folder).toSorted()).to.deep.equal(['ca-key.pem', 'ca.pem', 'server.pem']);
  });

  it('come from one new CA when the old one ends, however many processes see it', async () => {
    await open().current();
    const old = authority();
    clock.time += 3_640 * DAY_MS;
    const identities = await Promise.all(Array.from({ length: 10 }, () => open().current()));
    expect(authority()).to.not.equal(old);
    const issuer = new X509Certificate(authority());
    for (const { cert } of identities)
      expect(new X509Certificate(cert).verify(issuer.publicKey)).to.equal(true);
  });

  it('are said to be damaged where they are', async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'server.pem'), 'nonsense');
    let message = '';
    await open()
      .current()
      .catch((error: Error) => {
        message = error.message;
      });
    expect(message).to.include(folder).and.to.include('delete');
    rmSync(folder, { recursive: true });
    await open().current();
  });
});
