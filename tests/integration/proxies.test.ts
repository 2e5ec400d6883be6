import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { NameServer } from '../support/name-server.js';
import { describeProxy } from '../support/proxy-contract.js';
import { haproxy, LOOPBACK, type Place, replaced } from '../support/reverse-proxies.js';

const CONFIG = 'config/haproxy.cfg';
const PREFIX = '/catalogue';
const COMPRESSION = ['compression algo gzip', 'compression type application/json application/x-ndjson text/csv'];

/** HAProxy with what it needs to start, and nothing else. */
const frontend = ({ folder, https }: Place, ...rules: string[]) => `
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
frontend https
  bind ${LOOPBACK}:${https} ssl crt ${join(folder, 'server.pem')}
  http-request add-header X-Forwarded-Proto https
  ${rules.join('\n  ')}
  default_backend next
`;
const backend = ({ service }: Place) => `backend next\n  server one ${LOOPBACK}:${service}\n`;

/** The rule of a guide that removes the path. */
const removal = () =>
  /```haproxy\n(http-request .*)\n```/.exec(readFileSync('docs/how-to/production.md', 'utf8'))?.[1] ?? '';

describeProxy('HAProxy as it comes', { proxy: haproxy((place) => frontend(place) + backend(place)) });

describeProxy('HAProxy with compression', {
  proxy: haproxy((place) => frontend(place, ...COMPRESSION) + backend(place)),
  altersTags: true,
});

describeProxy('two HAProxies in a row, with compression', {
  proxy: haproxy((place) => {
    const socket = `unix@${join(place.folder, 'inner')}`;
    return `${frontend(place, ...COMPRESSION, 'option forwardfor')}
backend next
  server inner ${socket}
frontend inner
  bind ${socket}
  http-request add-header X-Forwarded-Proto https
  default_backend catalogue
${backend(place).replace('next', 'catalogue')}`;
  }),
  altersTags: true,
});

describe(CONFIG, () => {
  const names = new NameServer(() => [LOOPBACK]);
  let DNS_ADDRESS: string;
  before(async () => {
    DNS_ADDRESS = await names.start();
  });
  after(() => names.stop());

  const environment = ({ folder, https, service, management }: Place) => ({
    DNS_ADDRESS,
    HTTPS_ADDRESS: `${LOOPBACK}:${https}`,
    CERTIFICATE_FILE: join(folder, 'server.pem'),
    SERVICE_PORT: String(service),
    MANAGEMENT_PORT: String(management),
  });
  const adding = (...rules: string[]) =>
    haproxy(() => replaced(CONFIG, [['frontend https\n', `frontend https\n  ${rules.join('\n  ')}\n`]]), environment);

  describeProxy('with compression', { proxy: adding(...COMPRESSION), altersTags: true, carriesAll: true });
  describeProxy('under a path', { proxy: adding(removal()), carriesAll: true, prefix: PREFIX });
});

describe('curl --http1.0', () => {
  const plain = inProcessService({ TLS: 'proxy', TRUSTED_PROXIES: LOOPBACK });
  const tls = inProcessService();

  for (const [name, service, url, options] of [
    ['over plain HTTP', plain, 'http://127.0.0.1', ['-H', 'X-Forwarded-Proto: https']],
    ['over TLS', tls, 'https://localhost', []],
  ] as const)
    it(`exits with 0 after a whole export, and with an error after one that was cut, ${name}`, async () => {
      const { storage } = service.application;
      const list = storage.products.list.bind(storage.products);
      const curl = async () => {
        const authority = url.startsWith('https') ? ['--cacert', join(service.folder, 'tls/ca.pem')] : [];
        const headers = ['-H', `Authorization: Bearer ${FIRST_KEY}`, '-H', 'Accept: application/x-ndjson'];
        const args = ['-sS', '--http1.0', ...authority, ...headers, ...options, `${url}:${service.port}/v1/products`];
        return promisify(execFile)('curl', args)
          .then(({ stdout }) => stdout.split('\n').length - 1)
          .catch(({ code, stderr }) => `${code}: ${stderr}`);
      };
      for (let i = 0; i < 200; i++) await storage.products.insertAll([product(i + 1)]);
      expect(await curl()).to.equal(200);
      let pages = 0;
      storage.products.list = (query) => (++pages > 2 ? Promise.reject(new Error('disk')) : list(query));
      // 56: "failure in receiving network data".
      expect(await curl()).to.match(/^56: /);
    });
});

function product(id: number) {
  return { id, version: 1, createdAt: id, updatedAt: id, fields: { name: `p${id}` } };
}
