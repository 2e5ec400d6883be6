import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import type { HttpResponse } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { SCOPES_OF_PATHS, servedRoutes, withoutVersion } from '../support/served-routes.js';
import { credentialContract } from './access.contract.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PURGE', 'OPTIONS'];
const HAVE_NO_BODY = ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PURGE'];

/** `campaigns/faults/access.test.ts` sends every credential to every path. */
for (const settings of [{}, { PUBLIC_READ: 'products' }]) await credentialContract(settings, false);

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
      .replace(/(changes\?.*cursor=)[\w-]+/, '$1…');
    // Its ETag covers those links too.
    const tag = link === undefined ? etag : /^(W\/)?"/.test(String(etag));
    const others = vary?.replace(/API-Version(, )?/, '') || undefined;
    return { status, body, headers: rest, links, tag, vary: others };
  };

  it('belong to one route, for each resource', () => {
    for (const { paths } of SERVED)
      for (const path of paths.filter((one) => one.startsWith('/v1/')))
        expect(paths, path).to.include(withoutVersion(path));
    const plurals = versioned.map((path) => path.split('/')[2]);
    expect(plurals).to.include.members(Object.keys(SCOPES_OF_PATHS));
  });

  it('return the same response to each method', async () => {
    const faults: string[] = [];
    for (const path of versioned)
      for (const method of METHODS) {
        const bodies = HAVE_NO_BODY.includes(method) ? [{}] : [{ body: {} }, { body: '{' }];
        for (const options of [...bodies, { headers: UNACCEPTABLE }, { token: null }]) {
          const full = comparable(await service.request(method, path, options));
          const short = comparable(await service.request(method, withoutVersion(path), options));
          if (!isDeepStrictEqual(short, full))
            faults.push(`${method} ${path} ${JSON.stringify(options)}: ${JSON.stringify([short, full])}`);
        }
      }
    expect(faults).to.deep.equal([]);
  });
});
