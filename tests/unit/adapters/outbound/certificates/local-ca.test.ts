import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { LocalCa } from '#src/adapters/outbound/certificates/local-ca.js';
import { FakeClock } from '../../../../support/fakes.js';
import { temporaryFolder } from '../../../../support/temporary-folder.js';

const DAY_MS = 86_400_000;

describe('self-signed certificates', () => {
  const root = temporaryFolder();
  let made = 0;
  let folder: string;
  let clock: FakeClock;
  const open = () => new LocalCa(folder, clock);
  const authority = () => readFileSync(open().authorityFile, 'utf8');

  /** As a client sees it that trusts the CA's file and has the same clock. */
  const expectGood = (cert: string) => {
    const issuer = new X509Certificate(authority());
    expect(new X509Certificate(cert).verify(issuer.publicKey)).to.equal(true);
    for (const { validFrom, validTo } of [new X509Certificate(cert), issuer]) {
      expect(Date.parse(validFrom)).to.be.at.most(clock.time);
      expect(Date.parse(validTo) - clock.time).to.be.at.least(30 * DAY_MS);
    }
  };

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

  it('are made anew, the CA too, where the clock was ahead when they were made, however many processes see it', async () => {
    const now = clock.time;
    clock.time += 400 * DAY_MS;
    await open().current();
    const ahead = authority();
    clock.time = now;
    const identities = await Promise.all(Array.from({ length: 10 }, () => open().current()));
    expect(authority()).to.not.equal(ahead);
    for (const { cert } of identities) expectGood(cert);
    expect(await open().current()).to.deep.equal(identities[0]);
  });

  it('are renewed by the same CA where the clock was ahead when it last renewed them', async () => {
    const now = clock.time;
    await open().current();
    const old = authority();
    clock.time += 400 * DAY_MS;
    const ahead = await open().current();
    clock.time = now + DAY_MS;
    const { cert } = await open().current();
    expect(cert).to.not.equal(ahead.cert);
    expectGood(cert);
    expect(authority()).to.equal(old);
  });

  it('are good after a clock that was put back by less than they are backdated', async () => {
    const first = await open().current();
    clock.time -= 30 * 60_000;
    expect(await open().current()).to.deep.equal(first);
    expectGood(first.cert);
  });

  it('come from a new CA when the old one ends, though they would last longer', async () => {
    await open().current();
    clock.time += 3_615 * DAY_MS;
    const last = await open().current();
    const old = authority();
    clock.time += 10 * DAY_MS;
    expect((await open().current()).cert).to.not.equal(last.cert);
    expect(authority()).to.not.equal(old);
    expectGood((await open().current()).cert);
  });

  it('are always signed by the CA that clients are given', async () => {
    await open().current();
    const strange = join(folder, '..', 'strange');
    await new LocalCa(strange, clock).current();
    writeFileSync(join(folder, 'server.pem'), readFileSync(join(strange, 'server.pem')));
    expectGood((await open().current()).cert);
  });

  it('are said to be damaged where they are', async () => {
    const spoil: Record<string, () => void> = {
      'a server’s file of nonsense': () => writeFileSync(join(folder, 'server.pem'), 'nonsense'),
      'a server’s certificate of nonsense': () =>
        writeFileSync(join(folder, 'server.pem'), 'key\n-----BEGIN CERTIFICATE-----\nAAAA\n'),
      'a CA of nonsense': () => writeFileSync(join(folder, 'ca.pem'), 'nonsense'),
      'an empty CA': () => writeFileSync(join(folder, 'ca.pem'), ''),
      'no CA': () => rmSync(join(folder, 'ca.pem')),
      'no key to renew with': () => {
        rmSync(join(folder, 'ca-key.pem'));
        clock.time += 380 * DAY_MS;
      },
    };
    for (const [what, damage] of Object.entries(spoil)) {
      rmSync(folder, { recursive: true, force: true });
      await open().current();
      damage();
      const { message } = await open()
        .current()
        .then(
          () => ({ message: 'none' }),
          (error: Error) => error,
        );
      expect(message, what).to.include(folder).and.to.include('delete');
    }
    rmSync(folder, { recursive: true });
    await open().current();
  });
});
