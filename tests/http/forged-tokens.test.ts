import { expect } from 'chai';
import { ChildProcessService } from '../support/child-process-service.js';
import { bearerAttacks } from '../support/forged-tokens.js';
import type { HttpClient } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { expectRefused, launch } from '../support/send-forged-tokens.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { TestIssuer } from '../support/test-issuer.js';

describe('attacks by token', () => {
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

  it('are all refused, reach nothing and leave no token in the log', async () => {
    const launched = bearerAttacks(issuer);
    expect(launched.length).to.be.above(200);
    for (const [at, attack] of launched.entries())
      expectRefused(await launch(client, 'POST', attack, at), attack);
    const token = issuer.token();
    await client.get(`/v1/products/${token}`, { token });
    const list = await client.get('/v1/products', { token, headers: { Prefer: 'count=exact' } });
    expect([list.status, list.headers['x-total-count']], 'and a good one is taken').to.deep.equal([200, '0']);
    await service.stop();
    expect(service.log.match(/"msg":"request"/g)).to.have.length(launched.length + 2);
    for (const attack of [...launched, { name: 'a good one', token }]) {
      // Short parts are words that stand in any log.
      for (const part of attack.token.split('.').filter(({ length }) => length > 24))
        expect(service.log.includes(part.slice(0, 200)), attack.name).to.equal(false);
    }
  });

  it('are refused by the parser where they hold a NUL', async () => {
    const response = await readable.client.raw(
      `GET /v1/products HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${open.token()}\0\r\n\r\n`,
    );
    expect(response).to.match(/^HTTP\/1\.1 400 /);
  });

  const open = new TestIssuer();
  const readable = inProcessService({ PUBLIC_READ: 'products' }, { issuer: open });

  it('fail where anyone may read without a token, too', async () => {
    const launched = bearerAttacks(open);
    for (const [at, attack] of launched.entries()) {
      const response = await launch(readable.client, 'GET', attack, at);
      if (attack.code !== 'unauthenticated') expectRefused(response, attack);
      // No token that is looked at, and a parameter that is not known.
      else expect(response.status, attack.name).to.equal(attack.query ? 400 : 200);
    }
  });
});
