import { expect } from 'chai';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { SCOPES, type Scope } from '#src/domain/access.js';
import { figuresOf } from '../support/figure.js';
import type { HttpResponse, RequestOptions } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { basic } from '../support/oauth.js';
import { inParallel } from '../support/parallel-limits.js';
import { isPublicPath, requiredScopes, type ServedRoute, servedRoutes } from '../support/served-routes.js';
import { bodyOf, RECORD_PLURALS } from '../support/tables.js';

const figure = figuresOf('access');

const LANES = 8;
const PROXY = { TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1' };
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PURGE'];
const READS = ['GET', 'HEAD'];
const NDJSON = 'application/x-ndjson';
const HOUR_MS = 3_600_000;
const ITEM_ID = `${Number.MAX_SAFE_INTEGER}`;

/** Invalid in every way that is checked after authorization. */
const INVALID: RequestOptions = { headers: { Accept: 'text/html', 'API-Version': '9', 'If-Match': '1' } };
const INVALID_WITH_BODY = { body: '{', headers: { ...INVALID.headers, 'Content-Type': 'text/plain' } };

/** The status and the challenge of each refusal. */
const REFUSALS: Readonly<Record<string, readonly [status: number, challenge: RegExp]>> = {
  unauthenticated: [401, /^Bearer\b(?!.*error=)/],
  invalid_token: [401, /^Bearer error="invalid_token"/],
  token_expired: [401, /^Bearer error="invalid_token"/],
  insufficient_scope: [403, /^Bearer error="insufficient_scope"/],
  method_not_allowed: [405, /^$/],
};

/** A credential in one of its states. */
interface Credential {
  readonly name: string;
  /** The value of `Authorization`; absent: no such field. */
  readonly authorization?: string;
  /** The scopes that it gives, or the code of the 401. */
  readonly gives: readonly Scope[] | string;
}

/** A webhook is made and moved, and its secret shown, only for those who may read what it tells. */
function neededScopes(method: string, path: string): readonly Scope[] {
  const tells = method === 'POST' ? /\/webhooks(\/\d+\/secret)?$/ : method === 'PATCH' ? /\/webhooks\/\d+$/ : /^$/;
  const more: readonly Scope[] = tells.test(path) ? ['products:read'] : [];
  return [...requiredScopes(method, path), ...more];
}

function includesAll(given: Credential['gives'], scopes: readonly Scope[]): boolean {
  return scopes.every((scope) => given.includes(scope));
}

/** Valid fields of a new record. */
const FIELDS: Readonly<Record<string, (number: number) => object>> = {
  ...Object.fromEntries(RECORD_PLURALS.map((plural) => [plural, (number: number) => bodyOf(plural, number)])),
  // Who may create keys gives only scopes that it has.
  'api-keys': () => ({ name: 'access', scopes: ['keys:admin'] }),
  // Nothing listens there, and it is asked for tests alone.
  webhooks: () => ({ name: 'access', url: 'https://127.0.0.1:9/', resources: ['products'], status: 'paused' }),
};

/**
 * Tests credentials for every route and method of a service.
 * @param isWhole whether each path gets every credential; else it gets those that differ in its scopes, and one of the
 * others in turn
 */
export async function credentialContract(settings: Record<string, string>, isWhole = true): Promise<void> {
  const served = await servedRoutes(settings);
  describe(`credentials for every route and method, with ${JSON.stringify(settings)}`, function () {
    this.timeout(600_000);
    const service = inProcessService({ ...PROXY, WEBHOOK_NETWORKS: '127.0.0.0/8', ...settings });
    let requests = 0;
    let records = 0;

    /** Each request comes from an address of its own, because failed authentications are limited by address. */
    const send = (method: string, path: string, authorization?: string, options: RequestOptions = {}) => {
      const number = ++requests;
      const address = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
      const headers = {
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-For': address,
        ...(authorization !== undefined && { Authorization: authorization }),
        ...options.headers,
      };
      return service.request(method, path, { ...options, token: null, headers });
    };
    const asAdmin = (method: string, path: string, more?: RequestOptions) =>
      send(method, path, `Bearer ${FIRST_KEY}`, more);

    const create = async (plural: string): Promise<Readonly<Record<string, unknown>>> => {
      const { status, json } = await asAdmin('POST', `/v1/${plural}`, { body: FIELDS[plural]?.(++records) });
      expect(status, plural).to.equal(201);
      return json;
    };

    /** The path of a record that exists, in place of one that does not, with the query that the operation needs. */
    const pathOfRecord = async ({ key }: ServedRoute, path: string): Promise<string> => {
      if (path.endsWith('/facets')) return `${path}?fields=brand`;
      if (key === undefined && !path.includes(ITEM_ID)) return path;
      const record = await create(pluralOf(path));
      if (key !== undefined) return path.replace(/[^/]+$/, encodeURIComponent(String(record[key])));
      return path.replace(ITEM_ID, String(record['id']));
    };

    const makeKey = async (scopes: readonly Scope[], expiresAt?: string) => {
      const body = { name: 'state', scopes, ...(expiresAt && { expiresAt }) };
      return (await asAdmin('POST', '/v1/api-keys', { body })).json as { id: number; key: string };
    };

    /** A key that the API has created, and whose time is over. */
    const makeExpiredKey = async () => {
      const { id, key } = await makeKey(SCOPES, new Date(Date.now() + HOUR_MS).toISOString());
      const { apiKeys } = service.application.storage;
      const stored = await apiKeys.find(id);
      if (!stored) throw new Error(`there is no key ${id}`);
      const fields = { ...stored.fields, expiresAt: Date.now() - HOUR_MS };
      const record = { ...stored, fields, version: stored.version + 1 };
      await apiKeys.replaceAll([{ record, expected: stored.version }]);
      return { id, key };
    };

    const tokenFor = async (scopes: readonly Scope[], { id, key } = { id: 1, key: FIRST_KEY }) => {
      const form = `grant_type=client_credentials&scope=${encodeURIComponent(scopes.join(' '))}`;
      const headers = { ...basic(`${id}`, key), 'Content-Type': 'application/x-www-form-urlencoded' };
      const response = await send('POST', '/oauth/token', undefined, { body: form, headers });
      return response.json.access_token as string;
    };

    const makeCredentials = async (): Promise<Credential[]> => {
      const soon = await makeExpiredKey();
      const revoked = await makeKey(SCOPES);
      const revokedToken = await tokenFor(SCOPES, revoked);
      await asAdmin('DELETE', `/v1/api-keys/${revoked.id}`);
      const credentials: Credential[] = [{ name: 'every scope', authorization: `Bearer ${FIRST_KEY}`, gives: SCOPES }];
      for (const plural of RECORD_PLURALS) {
        const gives = requiredScopes('PATCH', `/${plural}`);
        const authorization = `Bearer ${(await makeKey(gives)).key}`;
        credentials.push({ name: `only ${gives.join(' and ')}`, authorization, gives });
      }
      for (const scope of SCOPES) {
        const others = SCOPES.filter((other) => other !== scope);
        credentials.push(
          { name: `only ${scope}`, authorization: `Bearer ${(await makeKey([scope])).key}`, gives: [scope] },
          { name: `all but ${scope}`, authorization: `Bearer ${(await makeKey(others)).key}`, gives: others },
          { name: `a JWT of ${scope}`, authorization: `Bearer ${await tokenFor([scope])}`, gives: [scope] },
        );
      }
      const good = await tokenFor(SCOPES);
      credentials.push({ name: 'a JWT of every scope', authorization: `bearer ${good}`, gives: SCOPES });

      const [header = '', payload = '', signature = ''] = good.split('.');
      // `forged-tokens` and the unit tests of the verifiers send every kind of forgery.
      const refused: Readonly<Record<string, string>> = {
        'an unknown key': newApiKey(),
        'a wrong checksum': `${FIRST_KEY.slice(0, -1)}${FIRST_KEY.endsWith('0') ? '1' : '0'}`,
        'a word': 'x',
        'a revoked key': revoked.key,
        'a JWT with another signature': `${header}.${payload}.${signature.replace(/^.{4}/, 'AAAA')}`,
        'a JWT of a revoked key': revokedToken,
      };
      for (const [name, token] of Object.entries(refused))
        credentials.push({ name, authorization: `Bearer ${token}`, gives: 'invalid_token' });
      credentials.push(
        { name: 'an expired key', authorization: `Bearer ${soon.key}`, gives: 'token_expired' },
        { name: 'nothing', gives: 'unauthenticated' },
        { name: 'a key of the scheme Basic', authorization: `Basic ${FIRST_KEY}`, gives: 'unauthenticated' },
        { name: 'a key without a scheme', authorization: FIRST_KEY, gives: 'unauthenticated' },
      );
      return credentials;
    };

    /** All records and keys, with their versions. */
    const snapshot = async (): Promise<string> => {
      const headers = { Accept: NDJSON };
      const parts = await Promise.all([
        ...RECORD_PLURALS.map((plural) => asAdmin('GET', `/v1/${plural}?fields=id,version`, { headers })),
        asAdmin('GET', '/v1/api-keys?limit=1000&fields=id,name,scopes'),
      ]);
      return parts.map(({ text }) => text).join('\n');
    };

    /** A request that succeeds if it is let in. */
    const validRequest = ({ key = '' }: ServedRoute, plural: string, method: string, path: string): RequestOptions => {
      // The body of a PUT may leave out what the path says.
      const fields = { ...FIELDS[plural]?.(++records), [key]: undefined };
      if (path.endsWith('/imports'))
        return { body: `${JSON.stringify(fields)}\n`, headers: { 'Content-Type': NDJSON } };
      return ['POST', 'PUT', 'PATCH'].includes(method) ? { body: fields } : {};
    };

    const pluralOf = (path: string) => /^(?:\/v\d+)?\/([^/]*)/.exec(path)?.[1] ?? '';

    /** The response to a credential: a code or, if it is let in, `in`. */
    const expectedOf = (
      { gives }: Credential,
      { isPublic, scopes, isKnown }: { isPublic: boolean; scopes: readonly Scope[]; isKnown: boolean },
    ): string => {
      if (isPublic && (typeof gives !== 'string' || gives === 'unauthenticated')) return 'in';
      if (typeof gives === 'string') return gives;
      if (!isKnown) return 'method_not_allowed';
      return includesAll(gives, scopes) ? 'in' : 'insufficient_scope';
    };

    const isRefused = (
      code: string,
      missing: readonly Scope[],
      method: string,
      { status, headers, text }: HttpResponse,
    ) => {
      const [wanted, pattern] = REFUSALS[code] ?? [];
      const challenge = String(headers['www-authenticate'] ?? '');
      return (
        status === wanted &&
        pattern?.test(challenge) &&
        (code !== 'insufficient_scope' || missing.every((scope) => challenge.includes(scope))) &&
        (method === 'HEAD' || JSON.parse(text).code === code)
      );
    };

    it('has only paths that are public or have a scope, and returns their methods to anyone', async () => {
      expect(served.flatMap(({ paths }) => paths)).to.include.members(['/health/live', '/health/ready']);
      for (const { paths, methods } of served)
        for (const path of paths) {
          expect(isPublicPath(path) || requiredScopes('POST', path).length > 0, path).to.equal(true);
          const { status, headers } = await send('OPTIONS', path);
          expect([status, ...`${headers.allow}`.split(', ')], path).to.include.members([204, ...methods]);
        }
    });

    it('is let in where its scopes allow it, and nowhere else', async () => {
      await create('products');
      await create('users');
      const credentials = await makeCredentials();
      const faults: string[] = [];
      let combinations = 0;
      let wronglyIn = 0;
      let wronglyRefused = 0;
      let serverErrors = 0;

      const check = async (one: Credential, route: ServedRoute, method: string, path: string, target: string) => {
        const plural = pluralOf(path);
        const isPublic =
          'PUBLIC_READ' in settings &&
          READS.includes(method) &&
          /^(\/v1)?\/products(\/\d+|\/sku\/[^/]+|\/facets)?$/.test(path);
        const scopes = neededScopes(method, path);
        const isKnown = route.methods.includes(method === 'HEAD' ? 'GET' : method);
        const expected = expectedOf(one, { isPublic, scopes, isKnown });
        // Half of the requests that are refused are invalid too: the scopes of the operation are checked first.
        const hasScopes = includesAll(one.gives, requiredScopes(method, path));
        const isValid = combinations++ % 2 === 0 || expected === 'in' || (isKnown && hasScopes);
        const invalid = ['POST', 'PUT', 'PATCH'].includes(method) ? INVALID_WITH_BODY : INVALID;
        const response = isValid
          ? await send(method, target, one.authorization, validRequest(route, plural, method, path))
          : await send(method, `${target}${target.includes('?') ? '&' : '?'}nothing=1`, one.authorization, invalid);
        const { status } = response;
        if (status >= 500) serverErrors++;
        const missing = requiredScopes(method, path).filter((scope) => !one.gives.includes(scope));
        if (expected === 'in' ? status < 400 : isRefused(expected, missing, method, response)) return;
        if (status < 400) wronglyIn++;
        if (expected === 'in') wronglyRefused++;
        faults.push(`${method} ${path} with ${one.name}: ${status} ${response.text} instead of ${expected}`);
      };
      const letsIn = (one: Credential, method: string, path: string) =>
        includesAll(one.gives, neededScopes(method, path));

      const chosenFor = (path: string, turn: number) => {
        const scopes = METHODS.flatMap((method) => neededScopes(method, path));
        return credentials.filter(
          ({ name }, at) =>
            isWhole ||
            name === 'nothing' ||
            at === turn % credentials.length ||
            (/^(only|all but)/.test(name) && scopes.some((scope) => name.includes(scope))),
        );
      };

      // The setting opens reads of products, and changes nothing else of what other resources allow.
      const methodsOf = (path: string) =>
        !isWhole && 'PUBLIC_READ' in settings && !path.includes('/products') ? READS : METHODS;

      let turn = 0;
      for (const route of served)
        for (const path of route.paths.filter((one) => !isPublicPath(one))) {
          const chosen = chosenFor(path, turn++);
          const shared = await pathOfRecord(route, path);
          const before = await snapshot();
          for (const method of methodsOf(path))
            await inParallel(LANES, chosen, async (one) => {
              if (READS.includes(method) || !letsIn(one, method, path)) await check(one, route, method, path, shared);
            });
          if ((await snapshot()) !== before) {
            wronglyIn++;
            faults.push(`${path}: a refused request changed the store`);
          }
          for (const method of methodsOf(path))
            await inParallel(LANES, chosen, async (one) => {
              if (READS.includes(method) || !letsIn(one, method, path)) return;
              const target = await pathOfRecord(route, path);
              await check(one, route, method, path, target);
              // One key makes at most 100.
              const [webhook] = /^.*\/webhooks\/\d+/.exec(target) ?? [];
              if (webhook !== undefined) await asAdmin('DELETE', webhook);
            });
        }
      const states = credentials.filter(({ name }) => /^(nothing|every|a revoked|an expired|an unknown)/.test(name));
      for (const route of served)
        for (const path of route.paths.filter(isPublicPath))
          for (const { name, authorization } of states) {
            const response = await send('GET', path, authorization);
            combinations++;
            if (![401, 403].includes(response.status)) continue;
            wronglyRefused++;
            faults.push(`GET ${path} with ${name}: ${response.status}`);
          }

      figure('combinations', combinations);
      figure('wrongly let in', wronglyIn);
      figure('wrongly refused', wronglyRefused);
      figure('5xx', serverErrors);
      expect(faults, `${faults.length} faults:\n${faults.slice(0, 20).join('\n')}`).to.have.length(0);
      expect(serverErrors).to.equal(0);
      expect(combinations).to.be.at.least(isWhole ? 4_000 : 1_000);
    });
  });
}
