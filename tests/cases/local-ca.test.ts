import { X509Certificate } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { LocalCa } from '#src/adapters/outbound/certificates/local-ca.js';
import { FakeClock } from '../support/fakes.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const DAY_MS = 86_400_000;

describe('LocalCa', () => {
  const root = temporaryFolder();
  let count = 0;
  let folder: string;
  let clock: FakeClock;
  const open = (...names: string[]) => new LocalCa(folder, clock, names);
  const authority = () => readFileSync(open().authorityFile, 'utf8');

  /** Checks the certificate like a client that trusts the CA's file and has the same clock. */
  const expectValid = (cert: string) => {
    const issuer = new X509Certificate(authority());
    expect(new X509Certificate(cert).verify(issuer.publicKey)).to.equal(true);
    for (const { validFrom, validTo } of [new X509Certificate(cert), issuer]) {
      expect(Date.parse(validFrom)).to.be.at.most(clock.time);
      expect(Date.parse(validTo) - clock.time).to.be.at.least(30 * DAY_MS);
    }
  };

  beforeEach(() => {
    folder = join(root, `${++count}`, 'tls');
    mkdirSync(join(root, `${count}`));
    clock = new FakeClock(Date.now());
  });

  it('issues a certificate once, and reuses it', async () => {
    const first = await open().current();
    expect(await open().current()).to.deep.equal(first);
    const certificate = new X509Certificate(first.cert);
    expect(certificate.subjectAltName).to.equal('DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
    expect(certificate.verify(new X509Certificate(authority()).publicKey)).to.equal(true);
    expect(new X509Certificate(authority()).ca).to.equal(true);
    expect(certificate.ca).to.equal(false);
  });

  it('holds its names besides those of this machine, each once', async () => {
    const { cert } = await open('shop.example', '10.0.0.7', '2001:db8::7', '::1', 'localhost').current();
    expect(new X509Certificate(cert).subjectAltName).to.equal(
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:shop.example, IP Address:10.0.0.7, IP Address:2001:DB8:0:0:0:0:0:7',
    );
    expectValid(cert);
    expect((await open('10.0.0.7', 'shop.example').current()).cert, 'holds both').to.equal(cert);
  });

  it('renews a certificate that lacks a name, by the same CA', async () => {
    let last = (await open('a.example').current()).cert;
    const old = authority();
    for (const names of [
      ['b.example'],
      ['b.example', '10.0.0.7'],
      ['x.b.example'],
      ['2001:db8::7'],
      ['::ffff:a00:1'],
      ['::'],
      ['a_b'],
    ]) {
      const ca = open(...names);
      const { cert } = await ca.current();
      expect(cert, names.join()).to.not.equal(last);
      const parsed = new X509Certificate(cert);
      for (const name of names) expect(isIP(name) ? parsed.checkIP(name) : parsed.checkHost(name), name).to.equal(name);
      expectValid(cert);
      expect((await ca.current()).cert, 'renewed once').to.equal(cert);
      last = cert;
    }
    expect((await open().current()).cert, 'more names do no harm').to.equal(last);
    expect(authority()).to.equal(old);
  });

  it('makes the key files readable only by their owner', async () => {
    await open().current();
    for (const file of ['ca-key.pem', 'server.pem'])
      expect(statSync(join(folder, file)).mode & 0o077, file).to.equal(0);
  });

  it('issues one certificate to concurrent first starts', async () => {
    const identities = await Promise.all(Array.from({ length: 10 }, () => open().current()));
    expect(new Set(identities.map(({ cert }) => cert))).to.have.length(1);
    expect(readdirSync(join(folder, '..'))).to.deep.equal(['tls']);
  });

  it('renews a certificate by the same CA once less than 30 days are left', async () => {
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

  it('makes a new CA for concurrent processes if the clock was ahead when the old one was made', async () => {
    const now = clock.time;
    clock.time += 400 * DAY_MS;
    await open().current();
    const ahead = authority();
    clock.time = now;
    const identities = await Promise.all(Array.from({ length: 10 }, () => open().current()));
    expect(authority()).to.not.equal(ahead);
    for (const { cert } of identities) expectValid(cert);
    expect(await open().current()).to.deep.equal(identities[0]);
  });

  it('keeps a certificate if the clock is set back by less than certificates are backdated', async () => {
    const first = await open().current();
    clock.time -= 30 * 60_000;
    expect(await open().current()).to.deep.equal(first);
    expectValid(first.cert);
  });

  it('makes a new CA when the old one ends, even if the certificate would last longer', async () => {
    await open().current();
    clock.time += 3_615 * DAY_MS;
    const last = await open().current();
    const old = authority();
    clock.time += 10 * DAY_MS;
    expect((await open().current()).cert).to.not.equal(last.cert);
    expect(authority()).to.not.equal(old);
    expectValid((await open().current()).cert);
  });

  it('replaces a certificate that another CA signed', async () => {
    await open().current();
    const foreign = join(folder, '..', 'foreign');
    await new LocalCa(foreign, clock).current();
    writeFileSync(join(folder, 'server.pem'), readFileSync(join(foreign, 'server.pem')));
    expectValid((await open().current()).cert);
  });

  it('fails if the folder around it was deleted, and does not create it', async () => {
    rmSync(join(root, `${count}`), { recursive: true });
    const opened = open().current();
    const error = await opened.catch((caught: unknown) => caught);
    expect(error).to.have.nested.property('cause.code', 'ENOENT');
    expect(readdirSync(root)).to.not.include(`${count}`);
  });

  it('reports damaged files, and recommends to delete the folder', async () => {
    const damages: Record<string, () => void> = {
      'an invalid server file': () => writeFileSync(join(folder, 'server.pem'), 'nonsense'),
      'an invalid server certificate': () =>
        writeFileSync(join(folder, 'server.pem'), 'key\n-----BEGIN CERTIFICATE-----\nAAAA\n'),
      'an invalid CA file': () => writeFileSync(join(folder, 'ca.pem'), 'nonsense'),
      'an empty CA file': () => writeFileSync(join(folder, 'ca.pem'), ''),
      'no CA file': () => rmSync(join(folder, 'ca.pem')),
      'no CA key at a renewal': () => {
        rmSync(join(folder, 'ca-key.pem'));
        clock.time += 380 * DAY_MS;
      },
    };
    for (const [name, damage] of Object.entries(damages)) {
      rmSync(folder, { recursive: true, force: true });
      await open().current();
      damage();
      const { message } = await open()
        .current()
        .then(() => ({ message: 'none' }))
        .catch((error: Error) => error);
      expect(message, name).to.include(folder).and.to.include('delete');
    }
    rmSync(folder, { recursive: true });
    await open().current();
  });
});
