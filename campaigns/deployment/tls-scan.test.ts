import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { chain } from '../../tests/support/certificate-chain.js';
import {
  ChildProcessService,
  certifiedService,
  refusesConnections,
} from '../../tests/support/child-process-service.js';
import { freePort } from '../../tests/support/free-port.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';

const TLS_1_3 = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'];
const tls12 = (kind: string) =>
  ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'].map((suite) => `ECDHE-${kind}-${suite}`);

/** Returns the attributes of each element with this name in the output of sslscan. */
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

interface Listening {
  readonly port: number;
  stop(): Promise<unknown>;
}

async function started(service: ChildProcessService): Promise<Listening> {
  return { port: await service.listening(), stop: () => service.stop('SIGKILL') };
}

async function certified(kind: 'EC' | 'RSA', folder: string): Promise<Listening> {
  const { cert, key } = await chain(kind);
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  return started(certifiedService(folder));
}

/** Starts HAProxy without an instance, because it handles the handshake itself. */
async function proxy(folder: string): Promise<Listening> {
  execFileSync('config/make-certificate.sh', { env: { ...process.env, CERTIFICATE_FOLDER: folder } });
  const port = await freePort();
  const env = {
    PATH: process.env['PATH'],
    HTTPS_ADDRESS: `127.0.0.1:${port}`,
    CERTIFICATE_FILE: join(folder, 'server.pem'),
  };
  const child = spawn('haproxy', ['-db', '-f', 'config/haproxy.cfg'], { env, stdio: 'ignore' });
  const closed = once(child, 'close');
  await until('haproxy (Debian: apt-get install haproxy) listens', async () => !(await refusesConnections(port)));
  return {
    port,
    stop: () => {
      child.kill('SIGKILL');
      return closed;
    },
  };
}

describe('sslscan', () => {
  for (const [what, suites, start] of [
    ['a service with the certificate of its CA', 'ECDSA', (folder) => started(new ChildProcessService(folder))],
    ['a service with an ECDSA certificate from files', 'ECDSA', (folder) => certified('EC', folder)],
    ['a service with an RSA certificate from files', 'RSA', (folder) => certified('RSA', folder)],
    ['HAProxy with config/haproxy.cfg', 'ECDSA', proxy],
  ] as const satisfies [string, string, (folder: string) => Promise<Listening>][]) {
    describe(`of ${what}`, () => {
      const folder = temporaryFolder();
      let scanned: Listening | undefined;
      let xml: string;
      const found = (name: string) => elements(xml, name);

      before(async () => {
        scanned = await start(folder);
        xml = scan(scanned.port);
      });
      after(() => scanned?.stop());

      it('finds TLS 1.2 and 1.3, and no older protocol', () => {
        const enabled = found('protocol').filter((protocol) => protocol['enabled'] === '1');
        expect(enabled.map(({ type, version }) => `${type} ${version}`)).to.deep.equal(['tls 1.2', 'tls 1.3']);
        expect(found('protocol')).to.have.length(6);
      });

      it('finds only suites with forward secrecy and authenticated encryption', () => {
        const of = (version: string) =>
          found('cipher')
            .filter(({ sslversion }) => sslversion === version)
            .map(({ cipher }) => cipher);
        expect(of('TLSv1.3')).to.have.members(TLS_1_3);
        expect(of('TLSv1.2')).to.have.members(tls12(suites));
        expect(found('cipher')).to.have.length(6);
      });

      it('finds no group below 128 bits, and none of finite fields', () => {
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
