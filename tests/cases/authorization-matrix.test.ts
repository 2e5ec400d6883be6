import { expect } from 'chai';
import { SCOPES, type Scope } from '#src/domain/access.js';
import type { HttpResponse, RequestOptions } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import {
  isPublicPath,
  requiredScopes,
  SCOPES_OF_PATHS,
  servedRoutes,
  withoutVersion,
} from '../support/served-routes.js';

const PUBLIC_READ = /^(\/v[1-9])?\/products(\/\d+|\/sku\/[^/]+|\/facets)?$/;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PURGE'] as const;
const READS = ['GET', 'HEAD'];
const HAVE_NO_BODY = [...READS, 'OPTIONS', 'DELETE', 'PURGE'];

/** Invalid in every way that is checked after authorization. */
const INVALID: RequestOptions = { headers: { Accept: 'text/html', 'API-Version': '9', 'If-Match': '1' } };
const INVALID_WITH_BODY: RequestOptions = {
  body: '{',
  headers: { ...INVALID.headers, 'Content-Type': 'text/plain' },
};

/** Collects the failed checks of one route, so that one test failure lists them all. */
class Cases {
  private readonly failures: string[] = [];

  async check(title: string, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      this.failures.push(`${title}: ${(error as Error).message}`);
    }
  }

  expectNone(): void {
    if (this.failures.length > 0) expect.fail(this.failures.join('\n'));
  }
}

for (const settings of [{}, { PUBLIC_READ: 'products' }]) {
  const served = await servedRoutes(settings);
  describe(`every path of the service, with the settings ${JSON.stringify(settings)}`, () => {
    const service = inProcessService(settings);
    const tokens = new Map<string, string>();
    before(async () => {
      const required = Object.keys(SCOPES_OF_PATHS).map((plural) => requiredScopes('PATCH', `/${plural}`));
      for (const scopes of [
        ...required,
        ...SCOPES.flatMap((scope) => [[scope], SCOPES.filter((other) => other !== scope)]),
      ]) {
        const response = await service.client.post('/api-keys', { name: 'matrix', scopes });
        tokens.set(scopes.join(), response.json.key);
      }
    });
    const allBut = (scope: Scope) => tokens.get(SCOPES.filter((other) => other !== scope).join()) ?? '';

    const isPublic = (path: string, method: string) =>
      isPublicPath(path) || ('PUBLIC_READ' in settings && READS.includes(method) && PUBLIC_READ.test(path));

    /**
     * A valid request, and one in which everything else is invalid: authorization comes first. A path without the version
     * has the latter alone, because both paths belong to one route.
     */
    const variants = (method: string, path: string) => [
      ...(path === withoutVersion(path) ? [] : [{}]),
      { ...(READS.includes(method) ? INVALID : INVALID_WITH_BODY), query: '?no-parameter=1' },
    ];

    /** The setting opens reads of products, and changes nothing else of what other resources allow. */
    const methodsOf = (path: string) => ('PUBLIC_READ' in settings && !/\/products\b/.test(path) ? READS : METHODS);

    it('is either public or has a required scope in the contract', () => {
      const found = served.flatMap(({ paths }) => paths);
      for (const path of found) {
        expect(isPublic(path, 'POST') || requiredScopes('POST', path).length > 0, path).to.equal(true);
      }
      const resources = Object.keys(SCOPES_OF_PATHS).flatMap((plural) => [`/v1/${plural}`, `/${plural}`]);
      expect(found).to.include.members([...resources, '/health/live', '/health/ready']);
    });

    const requestOf =
      (method: string, path: string) =>
      (token: string | null, { query = '', ...options }: RequestOptions & { query?: string } = {}) =>
        service.client.request(method, path + query, { token, ...options });

    const checkPublic = (cases: Cases, method: string, path: string) =>
      cases.check(`needs no token: ${method} ${path}`, async () => {
        const { headers, status } = await requestOf(method, path)(null);
        expect([status, headers['www-authenticate'] ?? '']).to.not.deep.equal([401, 'Bearer']);
      });

    const checkProtected = async (cases: Cases, method: string, path: string, known: boolean) => {
      const request = requestOf(method, path);
      const required = requiredScopes(method, path);

      await cases.check(`needs a token: ${method} ${path}`, async () => {
        for (const options of variants(method, path)) {
          const { status, headers, text } = await request(null, options);
          expect(status).to.equal(401);
          expect(headers['www-authenticate'])
            .to.match(/^Bearer\b/)
            .and.not.include('error');
          if (method !== 'HEAD') expect(JSON.parse(text).code).to.equal('unauthenticated');
        }
      });

      for (const scope of required)
        await cases.check(`${known ? `needs the scope ${scope}` : 'is not allowed'}: ${method} ${path}`, async () => {
          for (const options of variants(method, path)) {
            const { status, headers } = await request(allBut(scope), options);
            expect(status).to.equal(known ? 403 : 405);
            if (known) {
              expect(headers['www-authenticate'])
                .to.match(/^Bearer\b/)
                .and.include('error="insufficient_scope"')
                .and.include(`scope="${scope}"`);
            } else expect(headers).to.include.keys('allow').and.not.have.property('www-authenticate');
          }
        });

      await cases.check(`needs no other scope: ${method} ${path}`, async () => {
        const { status } = await request(tokens.get(required.join()) ?? '');
        if (known) expect(status).to.not.be.oneOf([401, 403, 405]);
        else expect(status).to.equal(405);
      });
    };

    for (const { route, methods, paths } of served) {
      it(`returns its methods to anyone and requires only its own scopes: ${route}`, async () => {
        const cases = new Cases();
        for (const path of paths) {
          await cases.check(`returns its methods to anyone: ${path}`, async () => {
            const response = await service.client.request('OPTIONS', path, { token: null });
            expect(response.status).to.equal(204);
            for (const method of methods) expect(response.headers.allow).to.include(method);
          });
          for (const method of methodsOf(path)) {
            const known = methods.includes(method === 'HEAD' ? 'GET' : method);
            if (isPublic(path, method)) await checkPublic(cases, method, path);
            else await checkProtected(cases, method, path, known);
          }
        }
        cases.expectNone();
      });
    }
  });
}

const UNACCEPTABLE = { Accept: 'text/html', 'If-Match': '1' };

const SERVED = await servedRoutes({});

describe('a path with the version and the same path without it', () => {
  const service = inProcessService();
  const versioned = SERVED.flatMap(({ paths }) => paths.filter((path) => path.startsWith('/v1/')));

  /** The parts of a response that depend neither on the single request nor on how the version was chosen. */
  const comparable = ({ status, headers, text }: HttpResponse) => {
    const { date: _, ratelimit: __, 'x-request-id': ___, vary, link, etag, ...rest } = headers;
    const body = text.replace(/"requestId":"[^"]*"/, '');
    // A page links to the next one under the path of the request. A cursor of changes has the time in it.
    const links = String(link)
      .replaceAll('</v1/', '</')
      .replace(/changes\?(.*)cursor=[\w-]+/, 'changes?$1cursor=…');
    // Its ETag covers those links too.
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

  it('belong to one route, for each resource', () => {
    for (const { paths } of SERVED)
      for (const path of paths.filter((one) => one.startsWith('/v1/')))
        expect(paths, path).to.include(withoutVersion(path));
    const plurals = versioned.map((path) => path.split('/')[2]);
    expect(plurals).to.include.members(Object.keys(SCOPES_OF_PATHS));
  });

  it('return the same response to each method', async () => {
    const cases = new Cases();
    for (const path of versioned) {
      for (const method of [...METHODS, 'OPTIONS']) {
        const bodies = HAVE_NO_BODY.includes(method) ? [{}] : [{ body: {} }, { body: '{' }];
        for (const options of [...bodies, { headers: UNACCEPTABLE }, { token: null }]) {
          await cases.check(`${method} ${path} ${JSON.stringify(options)}`, async () => {
            const [full, short] = [
              await service.client.request(method, path, options),
              await service.client.request(method, withoutVersion(path), options),
            ];
            expect(comparable(short)).to.deep.equal(comparable(full));
          });
        }
      }
    }
    cases.expectNone();
  });
});
