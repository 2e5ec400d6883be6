import { expect } from 'chai';
import { healthEndpoints } from '#src/adapters/inbound/http/health-routes.js';
import { compose } from '#src/composition/container.js';
import { publicEndpoints, servedEndpoints } from '#src/composition/endpoints.js';
import { STORE } from '#src/composition/tokens.js';
import { loadSettings } from '#src/config/settings.js';
import { SCOPES, type Scope } from '#src/domain/access.js';
import type { Asking } from '../support/http-client.js';
import { runningService } from '../support/running-service.js';

/** What the contract lets anyone ask for, word for word. */
const PUBLIC = [/^\/health\//, /^\/openapi\.json$/, /^\/docs$/, /^\/oauth\//, /^\/\.well-known\//];
/** What the page at /docs is made of. */
const DOCS =
  /^\/docs\/(?:docs\.css|(?:access|answer-view|attempt|body-editor|copying|credential|curl|deep-links|element|indented-json|main|navigation|openapi|operation-view|operations|parameter-field|parameter-fields|prose|references|sample|schema-terms|schema-view|send|trial)\.js)$/;
const PUBLIC_READ = /^(\/v1)?\/products(\/\d+)?$/;

/** What the contract asks of whoever reads or writes: by the first part of the address. */
const NEEDED: Readonly<Record<string, { read: Scope; write: Scope }>> = {
  products: { read: 'products:read', write: 'products:write' },
  users: { read: 'users:read', write: 'users:write' },
  orders: { read: 'orders:read', write: 'orders:write' },
  'api-keys': { read: 'keys:admin', write: 'keys:admin' },
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PURGE'] as const;
const READS = ['GET', 'HEAD'];

/** Wrong in every way that is judged later. */
const BAD: Asking = { headers: { Accept: 'text/html', 'API-Version': '9', 'If-Match': '1' } };
const BAD_BODY: Asking = { body: '{', headers: { ...BAD.headers, 'Content-Type': 'text/plain' } };

/** Each address that is served, in each of its forms, of a record that is not there. */
function addresses(settings: Record<string, string>) {
  const get = compose(loadSettings({ STORE: 'memory', LOG_LEVEL: 'silent', ...settings }));
  const health = healthEndpoints(get(STORE), () => false);
  const endpoints = [...health, ...publicEndpoints(get), ...servedEndpoints(get)];
  return endpoints.flatMap(({ template, path, variables, operations }) => {
    const whole = template.replace('{id}', `${Number.MAX_SAFE_INTEGER}`);
    const [[name, values] = ['', ['']]] = Object.entries(variables ?? {});
    return values
      .map((value) => whole.replace(`{${name}}`, value))
      .flatMap((address) => [address, address.replace(/^\/v1/, '')])
      .filter((address, at, all) => path.test(address) && all.indexOf(address) === at)
      .map((address) => ({ address, methods: Object.keys(operations) }));
  });
}

for (const settings of [{}, { PUBLIC_READ: 'products' }]) {
  describe(`every address of the service, under ${JSON.stringify(settings)}`, () => {
    const service = runningService(settings);
    const tokens = new Map<string, string>();
    before(async () => {
      for (const scope of SCOPES) {
        for (const scopes of [[scope], SCOPES.filter((other) => other !== scope)]) {
          const answer = await service.client.post('/api-keys', { name: 'walker', scopes });
          tokens.set(scopes.join(), answer.json.key);
        }
      }
    });
    const only = (scope: Scope) => tokens.get(scope) ?? '';
    const allBut = (scope: Scope) => tokens.get(SCOPES.filter((other) => other !== scope).join()) ?? '';

    const isPublic = (address: string, method: string) =>
      [...PUBLIC, DOCS].some((pattern) => pattern.test(address)) ||
      ('PUBLIC_READ' in settings && READS.includes(method) && PUBLIC_READ.test(address));

    /** As it is, and with everything else wrong too: access is decided first. */
    const askings = (method: string) => [
      {},
      { ...(READS.includes(method) ? BAD : BAD_BODY), query: '?no-parameter=1' },
    ];

    it('is in one of the lists of the contract', () => {
      const found = addresses(settings).map(({ address }) => address);
      for (const address of found) {
        const [, first = ''] = /^(?:\/v1)?\/([^/]*)/.exec(address) ?? [];
        expect(isPublic(address, 'POST') || first in NEEDED, address).to.equal(true);
      }
      const resources = Object.keys(NEEDED).flatMap((plural) => [`/v1/${plural}`, `/${plural}`]);
      expect(found).to.include.members([...resources, '/health/live', '/health/ready']);
    });

    for (const { address, methods } of addresses(settings)) {
      it(`tells anyone its methods: ${address}`, async () => {
        const answer = await service.client.ask('OPTIONS', address, { token: null });
        expect(answer.status).to.equal(204);
        for (const method of methods) expect(answer.headers.allow).to.include(method);
      });

      for (const method of METHODS) {
        const known = methods.includes(method === 'HEAD' ? 'GET' : method);
        const ask = (token: string | null, { query = '', ...asking }: Asking & { query?: string } = {}) =>
          service.client.ask(method, address + query, { token, ...asking });

        if (isPublic(address, method)) {
          it(`asks nobody for a token: ${method} ${address}`, async () => {
            const { headers, status } = await ask(null);
            expect([status, headers['www-authenticate'] ?? '']).to.not.deep.equal([401, 'Bearer']);
          });
          continue;
        }

        const [, first = ''] = /^(?:\/v1)?\/([^/]*)/.exec(address) ?? [];
        const scope = NEEDED[first]?.[READS.includes(method) ? 'read' : 'write'] ?? 'keys:admin';

        it(`asks for a token: ${method} ${address}`, async () => {
          for (const asking of askings(method)) {
            const { status, headers, text } = await ask(null, asking);
            expect(status).to.equal(401);
            expect(headers['www-authenticate'])
              .to.match(/^Bearer\b/)
              .and.not.include('error');
            if (method !== 'HEAD') expect(JSON.parse(text).code).to.equal('unauthenticated');
          }
        });

        it(`asks for ${known ? scope : 'no scope, and is not known'}: ${method} ${address}`, async () => {
          for (const asking of askings(method)) {
            const { status, headers } = await ask(allBut(scope), asking);
            expect(status).to.equal(known ? 403 : 405);
            if (known) {
              expect(headers['www-authenticate'])
                .to.match(/^Bearer\b/)
                .and.include('error="insufficient_scope"')
                .and.include(`scope="${scope}"`);
            } else expect(headers).to.include.keys('allow').and.not.have.property('www-authenticate');
          }
        });

        it(`asks for nothing more: ${method} ${address}`, async () => {
          const { status } = await ask(only(scope));
          if (known) expect(status).to.not.be.oneOf([401, 403, 405]);
          else expect(status).to.equal(405);
        });
      }
    }
  });
}
