import { expect } from 'chai';
import { healthRoutes } from '#src/adapters/inbound/http/health-routes.js';
import { compose } from '#src/composition/container.js';
import { loadSettings } from '#src/config/settings.js';
import { SCOPES, type Scope } from '#src/domain/access.js';
import type { HttpResponse, RequestOptions } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';

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
const BAD: RequestOptions = { headers: { Accept: 'text/html', 'API-Version': '9', 'If-Match': '1' } };
const BAD_BODY: RequestOptions = { body: '{', headers: { ...BAD.headers, 'Content-Type': 'text/plain' } };

interface ServedRoute {
  readonly route: string;
  readonly methods: readonly string[];
  /** Of a record that is not there; those without the version behind those with it. */
  readonly addresses: readonly string[];
}

/** Each route that is served, with its addresses in each of their forms. */
async function servedRoutes(settings: Record<string, string>): Promise<ServedRoute[]> {
  const application = await compose(loadSettings({ STORE: 'memory', LOG_LEVEL: 'silent', ...settings }));
  const { routes, store } = application.serviceParts;
  return [...healthRoutes(store, () => false), ...routes].map(({ template, path, variables, operations }) => {
    const whole = template.replace('{id}', `${Number.MAX_SAFE_INTEGER}`);
    const [[name, values] = ['', ['']]] = Object.entries(variables ?? {});
    const full = values.map((value) => whole.replace(`{${name}}`, value));
    const short = full.map(withoutVersion).filter((address) => !full.includes(address));
    const addresses = [...full, ...short].filter((address) => path.test(address));
    return { route: template, methods: Object.keys(operations), addresses };
  });
}

function withoutVersion(address: string): string {
  return address.replace(/^\/v\d+(?=\/)/, '');
}

/** Collects what is wrong with the cases of one route, so that one failure lists all. */
class Cases {
  private readonly failures: string[] = [];

  async check(what: string, look: () => Promise<void>): Promise<void> {
    try {
      await look();
    } catch (error) {
      this.failures.push(`${what}: ${(error as Error).message}`);
    }
  }

  expectNone(): void {
    if (this.failures.length > 0) expect.fail(this.failures.join('\n'));
  }
}

for (const settings of [{}, { PUBLIC_READ: 'products' }]) {
  const served = await servedRoutes(settings);
  describe(`every address of the service, under ${JSON.stringify(settings)}`, () => {
    const service = inProcessService(settings);
    const tokens = new Map<string, string>();
    before(async () => {
      for (const scope of SCOPES) {
        for (const scopes of [[scope], SCOPES.filter((other) => other !== scope)]) {
          const response = await service.client.post('/api-keys', { name: 'walker', scopes });
          tokens.set(scopes.join(), response.json.key);
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
      const found = served.flatMap(({ addresses }) => addresses);
      for (const address of found) {
        const [, first = ''] = /^(?:\/v\d+)?\/([^/]*)/.exec(address) ?? [];
        expect(isPublic(address, 'POST') || first in NEEDED, address).to.equal(true);
      }
      const resources = Object.keys(NEEDED).flatMap((plural) => [`/v1/${plural}`, `/${plural}`]);
      expect(found).to.include.members([...resources, '/health/live', '/health/ready']);
    });

    const requestOf =
      (method: string, address: string) =>
      (token: string | null, { query = '', ...options }: RequestOptions & { query?: string } = {}) =>
        service.client.request(method, address + query, { token, ...options });

    const checkPublic = (cases: Cases, method: string, address: string) =>
      cases.check(`asks nobody for a token: ${method} ${address}`, async () => {
        const { headers, status } = await requestOf(method, address)(null);
        expect([status, headers['www-authenticate'] ?? '']).to.not.deep.equal([401, 'Bearer']);
      });

    const checkProtected = async (cases: Cases, method: string, address: string, known: boolean) => {
      const request = requestOf(method, address);
      const [, first = ''] = /^(?:\/v\d+)?\/([^/]*)/.exec(address) ?? [];
      const scope = NEEDED[first]?.[READS.includes(method) ? 'read' : 'write'] ?? 'keys:admin';

      await cases.check(`asks for a token: ${method} ${address}`, async () => {
        for (const options of askings(method)) {
          const { status, headers, text } = await request(null, options);
          expect(status).to.equal(401);
          expect(headers['www-authenticate'])
            .to.match(/^Bearer\b/)
            .and.not.include('error');
          if (method !== 'HEAD') expect(JSON.parse(text).code).to.equal('unauthenticated');
        }
      });

      await cases.check(
        `asks for ${known ? scope : 'no scope, and is not known'}: ${method} ${address}`,
        async () => {
          for (const options of askings(method)) {
            const { status, headers } = await request(allBut(scope), options);
            expect(status).to.equal(known ? 403 : 405);
            if (known) {
              expect(headers['www-authenticate'])
                .to.match(/^Bearer\b/)
                .and.include('error="insufficient_scope"')
                .and.include(`scope="${scope}"`);
            } else expect(headers).to.include.keys('allow').and.not.have.property('www-authenticate');
          }
        },
      );

      await cases.check(`asks for nothing more: ${method} ${address}`, async () => {
        const { status } = await request(only(scope));
        if (known) expect(status).to.not.be.oneOf([401, 403, 405]);
        else expect(status).to.equal(405);
      });
    };

    for (const { route, methods, addresses } of served) {
      it(`tells anyone its methods, and asks for its scope and nothing more: ${route}`, async () => {
        const cases = new Cases();
        for (const address of addresses) {
          await cases.check(`tells anyone its methods: ${address}`, async () => {
            const response = await service.client.request('OPTIONS', address, { token: null });
            expect(response.status).to.equal(204);
            for (const method of methods) expect(response.headers.allow).to.include(method);
          });
          for (const method of METHODS) {
            const known = methods.includes(method === 'HEAD' ? 'GET' : method);
            if (isPublic(address, method)) await checkPublic(cases, method, address);
            else await checkProtected(cases, method, address, known);
          }
        }
        cases.expectNone();
      });
    }
  });
}

const NO_TYPE = { Accept: 'text/html', 'If-Match': '1' };

const SERVED = await servedRoutes({});

describe('an address with the version and the one without it', () => {
  const service = inProcessService();
  const versioned = SERVED.flatMap(({ addresses }) =>
    addresses.filter((address) => address.startsWith('/v1/')),
  );

  /** What does not differ from one request to the next, nor by who chose the version. */
  const lasting = ({ status, headers, text }: HttpResponse) => {
    const { date: _, ratelimit: __, 'x-request-id': ___, vary, link, etag, ...rest } = headers;
    const body = text.replace(/"requestId":"[^"]*"/, '');
    // A page links to the next one at the address that was asked.
    const links = String(link).replaceAll('</v1/', '</');
    // Its tag is of those links too.
    const tag = link === undefined ? etag : /^(W\/)?"/.test(String(etag));
    return {
      status,
      body,
      headers: rest,
      links,
      tag,
      vary: vary?.replace(/API-Version(, )?/, '') || undefined,
    };
  };

  it('are both of one route, for each resource', () => {
    for (const { addresses } of SERVED)
      for (const address of addresses.filter((one) => one.startsWith('/v1/')))
        expect(addresses, address).to.include(withoutVersion(address));
    const plurals = versioned.map((address) => address.split('/')[2]);
    expect(plurals).to.include.members(Object.keys(NEEDED));
  });

  it('give one response to each method', async () => {
    const cases = new Cases();
    for (const address of versioned) {
      for (const method of [...METHODS, 'OPTIONS']) {
        for (const options of [{}, { body: {} }, { body: '{' }, { headers: NO_TYPE }, { token: null }]) {
          await cases.check(`${method} ${address} ${JSON.stringify(options)}`, async () => {
            const [full, short] = [
              await service.client.request(method, address, options),
              await service.client.request(method, withoutVersion(address), options),
            ];
            expect(lasting(short)).to.deep.equal(lasting(full));
          });
        }
      }
    }
    cases.expectNone();
  });
});
