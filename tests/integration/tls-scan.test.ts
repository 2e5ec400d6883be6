import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { chain } from '../support/certificate-chain.js';
import { CertifiedService } from '../support/certified-service.js';
import { SpawnedService } from '../support/spawned-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const TLS_1_3 = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'];
const tls12 = (kind: string) =>
  ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'].map((suite) => `ECDHE-${kind}-${suite}`);

/** Each element of this name in what sslscan writes, as its attributes. */
function elements(xml: string, name: string): Record<string, string>[] {
  return [...xml.matchAll(new RegExp(`<${name} ([^>]*?)/?>`, 'g'))].map(([, attributes = '']) =>
    Object.fromEntries([...attributes.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value])),
  );
}

function scan(port: number): string {
  const { stdout, error, status } = spawnSync('sslscan', ['--xml=-', '--show-sigs', `localhost:${port}`], {
    encoding: 'utf8',
    timeout: 50_000,
  });
  if (error) throw new Error(`sslscan (Debian: apt-get install sslscan) could not run: ${error.message}`);
  expect(status, stdout).to.equal(0);
  return stdout;
}

async function certified(kind: 'EC' | 'RSA', folder: string): Promise<SpawnedService> {
  const { cert, key } = await chain(kind);
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  return new CertifiedService(folder);
}

describe('sslscan', () => {
  for (const [what, suites, start] of [
    ['the certificate of the local CA', 'ECDSA', async (folder) => new SpawnedService(folder)],
    ['an ECDSA certificate from files', 'ECDSA', (folder) => certified('EC', folder)],
    ['an RSA certificate from files', 'RSA', (folder) => certified('RSA', folder)],
  ] as const satisfies [string, string, (folder: string) => Promise<SpawnedService>][]) {
    describe(`of a service with ${what}`, () => {
      const folder = temporaryFolder();
      let service: SpawnedService;
      let xml: string;
      const found = (name: string) => elements(xml, name);

      before(async () => {
        service = await start(folder);
        const [, port] = await service.says(/listens on https:\/\/localhost:(\d+)/);
        xml = scan(Number(port));
      });
      after(() => service?.stop('SIGKILL'));

      it('finds TLS 1.2 and 1.3, and no older protocol', () => {
        const enabled = found('protocol').filter((protocol) => protocol['enabled'] === '1');
        expect(enabled.map(({ type, version }) => `${type} ${version}`)).to.deep.equal([
          'tls 1.2',
          'tls 1.3',
        ]);
        expect(found('protocol')).to.have.length(6);
      });

      it('finds forward-secret suites with authenticated encryption, and no others', () => {
        const of = (version: string) =>
          found('cipher')
            .filter(({ sslversion }) => sslversion === version)
            .map(({ cipher }) => cipher);
        expect(of('TLSv1.3')).to.have.members(TLS_1_3);
        expect(of('TLSv1.2')).to.have.members(tls12(suites));
        expect(found('cipher')).to.have.length(6);
      });

      it('finds no group of under 128 bits, and none of finite fields', () => {
        const groups = found('group').filter(({ sslversion }) => sslversion === 'TLSv1.3');
        expect(groups.map(({ name }) => name)).to.have.members([
          'secp256r1 (NIST P-256)',
          'secp384r1 (NIST P-384)',
          'x25519',
        ]);
        for (const { bits } of found('group')) expect(Number(bits)).to.be.at.least(128);
      });

      it('finds a strong key and signature', () => {
        const [key] = found('pk').filter(({ bits }) => bits !== undefined);
        expect([key?.['error'], key?.['type']]).to.deep.equal(['false', suites === 'RSA' ? 'RSA' : 'EC']);
        expect(Number(key?.['bits'])).to.be.at.least(suites === 'RSA' ? 2_048 : 128);
        expect(xml).to.match(/<signature-algorithm>(ecdsa-with-SHA256|sha256WithRSAEncryption)</);
        const signatures = found('connection-signature-algorithm').map(({ name }) => name ?? '');
        expect(signatures).to.not.have.length(0);
        for (const name of signatures) expect(name).to.not.match(/sha1|md5|sha224/i);
      });

      it('finds neither Heartbleed nor renegotiation', () => {
        const bleeding = found('heartbleed');
        expect(bleeding.map(({ vulnerable }) => vulnerable)).to.deep.equal(['0', '0']);
        expect(found('renegotiation')).to.deep.equal([{ supported: '0', secure: '0' }]);
        for (const { supported } of found('compression')) expect(supported).to.equal('0');
      });
    });
  }
});
