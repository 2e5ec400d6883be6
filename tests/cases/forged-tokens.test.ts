import { expect } from 'chai';
import { ChildProcessService } from '../support/child-process-service.js';
import { type Attack, bearerAttacks } from '../support/forged-tokens.js';
import type { HttpClient, HttpResponse } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { TestIssuer } from '../support/test-issuer.js';

const CHALLENGES: Readonly<Record<string, RegExp>> = {
  unauthenticated: /^Bearer( resource_metadata="[^"]+")?$/,
  invalid_token: /^Bearer error="invalid_token", error_description="[^"\\]+"(, resource_metadata="[^"]+")?$/,
  token_expired:
    /^Bearer error="invalid_token", error_description="The access token has expired\."(, resource_metadata="[^"]+")?$/,
  invalid_parameter: /^undefined$/,
};

/** Sends an attack. At most 15 attacks share an IP address, so none meets the limit on failed authentications. */
function launch(client: HttpClient, method: string, attack: Attack, index: number): Promise<HttpResponse> {
  const { authorization, query = '', body } = attack;
  return client.request(method, `/v1/products${query}`, {
    token: null,
    headers: authorization === undefined ? {} : { Authorization: authorization as string | string[] },
    body: body ?? (method === 'POST' ? { name: 'x' } : undefined),
    from: `127.0.1.${1 + Math.floor(index / 15)}`,
  });
}

/** Expects the error that the contract promises, without further information. */
function expectErrorOf(response: HttpResponse, { name, status, code }: Attack): void {
  expect([response.status, response.json.code], name).to.deep.equal([status, code]);
  expect(Object.keys(response.json), name).to.deep.equal(['code', 'message', 'details']);
  expect(String(response.headers['www-authenticate']), name).to.match(CHALLENGES[code] ?? /never/);
  expect(response.headers['cache-control'], name).to.equal('no-store');
}

describe('forged access tokens', () => {
  const folder = temporaryFolder();
  const issuer = new TestIssuer();
  let service: ChildProcessService;
  let client: HttpClient;

  before(async () => {
    await issuer.start();
    const settings = { STORE: 'memory', LOG_LEVEL: 'trace', BOOTSTRAP_API_KEY: FIRST_KEY };
    service = new ChildProcessService(folder, { ...settings, ...issuer.settings });
    client = await service.started(FIRST_KEY);
  });
  after(async () => {
    client.close();
    await service.stop();
    await issuer.stop();
  });

  it('are all rejected, change nothing and leave no token in the log', async () => {
    const attacks = bearerAttacks(issuer);
    expect(attacks.length).to.be.above(200);
    for (const [at, attack] of attacks.entries()) expectErrorOf(await launch(client, 'POST', attack, at), attack);
    const token = issuer.token();
    await client.get(`/v1/products/${token}`, { token });
    const list = await client.get('/v1/products', { token, headers: { Prefer: 'count=exact' } });
    expect(list.status, 'a valid token is accepted').to.equal(200);
    expect(list.headers['x-total-count'], 'nothing was created').to.equal('0');
    await service.stop();
    expect(service.log.match(/"msg":"request"/g)).to.have.length(attacks.length + 2);
    for (const attack of [...attacks, { name: 'a valid token', token }]) {
      // Short parts are ordinary words, which any log contains.
      for (const part of attack.token.split('.').filter(({ length }) => length > 24))
        expect(service.log.includes(part.slice(0, 200)), attack.name).to.equal(false);
    }
  });

  it('are rejected by the parser if they contain a NUL', async () => {
    const response = await publicService.raw(
      `GET /v1/products HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${publicIssuer.token()}\0\r\n\r\n`,
    );
    expect(response).to.match(/^HTTP\/1\.1 400 /);
  });

  const publicIssuer = new TestIssuer();
  const publicService = inProcessService({ PUBLIC_READ: 'products' }, { issuer: publicIssuer });

  it('are rejected on public paths too', async () => {
    const attacks = bearerAttacks(publicIssuer);
    for (const [at, attack] of attacks.entries()) {
      const response = await launch(publicService.client, 'GET', attack, at);
      if (attack.code !== 'unauthenticated') expectErrorOf(response, attack);
      // The attack sends no bearer token, but may have an unknown query parameter.
      else expect(response.status, attack.name).to.equal(attack.query ? 400 : 200);
    }
  });
});
