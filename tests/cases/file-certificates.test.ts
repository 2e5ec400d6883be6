import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CertificateError, FileCertificates } from '#src/adapters/outbound/certificates/file-certificates.js';
import { type Chain, chain } from '../support/certificate-chain.js';
import { FakeClock, RecordingLogger } from '../support/fakes.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const DAY_MS = 86_400_000;
const SECRET = { cipher: 'aes-256-cbc', passphrase: 'sesame' };

describe('FileCertificates', () => {
  const folder = temporaryFolder();
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
  const clock = new FakeClock(Date.now());
  let logger: RecordingLogger;
  let ec: Chain;
  let rsa: Chain;
  const write = ({ cert, key }: Pick<Chain, 'cert' | 'key'>) => {
    writeFileSync(files.certFile, cert);
    writeFileSync(files.keyFile, key);
  };
  let settle: () => void = () => {};
  const open = () => new FileCertificates(files, clock, logger, async () => settle());
  const errorMessage = async (certificates = open()) => {
    try {
      await certificates.current();
    } catch (error) {
      expect(error).to.be.instanceOf(CertificateError);
      return (error as Error).message;
    }
    return 'none';
  };

  before(async () => {
    [ec, rsa] = await Promise.all([chain('EC'), chain('RSA')]);
  });
  beforeEach(() => {
    logger = new RecordingLogger();
    clock.time = Date.now();
    settle = () => {};
  });

  it('rejects a file with other content, and names its setting', async () => {
    const cut = (pem: string) => pem.slice(0, pem.length / 3);
    for (const [cert, key, message] of [
      ['', ec.key, /^TLS_CERT_FILE: the certificate \S+ holds no certificate in PEM$/],
      ['\u0000binary', ec.key, /^TLS_CERT_FILE: the certificate \S+ holds no certificate in PEM$/],
      [ec.key, ec.cert, /^TLS_CERT_FILE: the certificate \S+ holds no certificate in PEM$/],
      [ec.cert, '', /^TLS_KEY_FILE: the key \S+ holds no private key in PEM$/],
      [ec.cert, ec.cert, /^TLS_KEY_FILE: the key \S+ holds no private key in PEM$/],
      [cut(ec.cert), ec.key, /^TLS_CERT_FILE: the certificate \S+ cannot be used( \(\w+\))?$/],
      [ec.cert, cut(ec.key), /^TLS_KEY_FILE: the key \S+ cannot be used( \(\w+\))?$/],
    ] as const) {
      write({ cert, key });
      expect(await errorMessage()).to.match(message);
    }
    for (const [name, message] of [
      ['certFile', /^TLS_CERT_FILE: the certificate \S+ cannot be read: no such file or directory \(ENOENT\)$/],
      ['keyFile', /^TLS_KEY_FILE: the key \S+ cannot be read: no such file or directory \(ENOENT\)$/],
    ] as const) {
      write(ec);
      rmSync(files[name]);
      expect(await errorMessage()).to.match(message);
    }
  });

  it('rejects an encrypted key in PKCS #8 and in PKCS #1', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    for (const type of ['pkcs8', 'pkcs1'] as const) {
      write({ cert: ec.cert, key: String(privateKey.export({ type, format: 'pem', ...SECRET })) });
      expect(await errorMessage(), type).to.equal(
        `TLS_KEY_FILE: the key ${files.keyFile} is encrypted; it is needed without a passphrase`,
      );
    }
  });

  it('rejects a key that is weak, or that no handshake can use', async () => {
    for (const { privateKey } of [
      generateKeyPairSync('rsa', { modulusLength: 1024 }),
      generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
      generateKeyPairSync('ec', { namedCurve: 'prime192v1' }),
      generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 }),
    ]) {
      write({ cert: ec.cert, key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) });
      expect(await errorMessage()).to.match(/^TLS_KEY_FILE: the key \S+ is too weak, or of a kind/);
    }
  });

  it('rejects a chain whose first certificate does not match the key', async () => {
    const [, first = '', second = ''] = /^(.*?END CERTIFICATE-----\n)(.*)$/s.exec(ec.cert) ?? [];
    write({ cert: second + first, key: ec.key });
    expect(await errorMessage()).to.match(
      /^TLS_KEY_FILE: the key \S+ is not the one of the certificate \S+ \(TLS_CERT_FILE\)$/,
    );
  });

  it('rejects a truncated chain', async () => {
    const leafEnd = ec.cert.indexOf('-----END CERTIFICATE-----') + 26;
    for (const length of [leafEnd + 1, leafEnd + 8, leafEnd + 27, leafEnd + 200, ec.cert.length - 3]) {
      write({ cert: ec.cert.slice(0, length), key: ec.key });
      expect(await errorMessage(), `${length}`).to.match(
        /^TLS_CERT_FILE: the certificate \S+ (is cut off|cannot be used)/,
      );
    }
    write({ cert: `# Leaf\n---\n${ec.cert}# end`, key: ec.key });
    expect(await errorMessage()).to.equal('none');
  });

  it('keeps the current certificate while the new files are being written', async () => {
    write(ec);
    const certificates = open();
    await certificates.current();
    settle = () => write({ cert: rsa.cert, key: rsa.key.slice(0, 100) });
    write({ cert: rsa.cert, key: ec.key });
    expect((await certificates.current()).cert, 'mismatched').to.equal(ec.cert);
    settle = () => write(rsa);
    expect((await certificates.current()).cert, 'half written').to.equal(ec.cert);
    settle = () => {};
    expect((await certificates.current()).cert).to.equal(rsa.cert);
  });

  it('keeps the current certificate until the new one is valid', async () => {
    const now = clock.time;
    const late = await chain('EC', { from: now - 30 * DAY_MS, to: now - DAY_MS });
    const early = await chain('EC', { from: now + DAY_MS, to: now + 90 * DAY_MS });
    write(ec);
    const certificates = open();
    await certificates.current();
    for (const pair of [late, early]) {
      write(pair);
      expect(await errorMessage(certificates)).to.match(
        /^TLS_CERT_FILE: the certificate \S+ is not valid now, but from .* GMT to .* GMT$/,
      );
    }
    clock.time += 2 * DAY_MS;
    expect((await certificates.current()).cert).to.equal(early.cert);
  });

  it('starts with an expired certificate, and logs a warning', async () => {
    const late = await chain('EC', { from: clock.time - 30 * DAY_MS, to: clock.time - DAY_MS });
    write(late);
    const certificates = open();
    expect((await certificates.current()).cert).to.equal(late.cert);
    await certificates.current();
    expect(logger.events).to.deep.equal(['the certificate is not valid now; clients will refuse it']);
    write(ec);
    expect((await certificates.current()).cert).to.equal(ec.cert);
  });

  describe('with symbolic links', () => {
    const link = (target: string, name: string) => {
      symlinkSync(target, join(folder, `${name}.new`));
      renameSync(join(folder, `${name}.new`), join(folder, name));
    };
    const presentedSerial = async (certificates: FileCertificates) =>
      new X509Certificate((await certificates.current()).cert).serialNumber;
    const serial = ({ cert }: Chain) => new X509Certificate(cert).serialNumber;
    beforeEach(() => {
      for (const file of Object.values(files)) rmSync(file, { force: true });
    });

    it('follows those of Kubernetes: to a folder that is replaced', async () => {
      for (const [name, pair] of Object.entries({ '..2026_01': ec, '..2026_02': rsa })) {
        mkdirSync(join(folder, name));
        writeFileSync(join(folder, name, 'cert.pem'), pair.cert);
        writeFileSync(join(folder, name, 'key.pem'), pair.key);
      }
      link('..2026_01', '..data');
      link('..data/cert.pem', 'cert.pem');
      link('..data/key.pem', 'key.pem');
      const certificates = open();
      expect(await presentedSerial(certificates)).to.equal(serial(ec));
      link('..2026_02', '..data');
      rmSync(join(folder, '..2026_01'), { recursive: true });
      expect(await presentedSerial(certificates)).to.equal(serial(rsa));
    });
  });
});
