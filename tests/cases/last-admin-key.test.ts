import { expect } from 'chai';
import { LOCAL_STORE_NAMES } from '../stores/index.js';
import type { HttpResponse, RequestOptions } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { sized } from '../support/run-settings.js';

const ADMIN = { name: 'admin', scopes: ['keys:admin'] };
const READER = { name: 'reader', scopes: ['products:read'] };

/** The path of the key that the test client uses. */
const FIRST = '/v1/api-keys/1';

for (const STORE of LOCAL_STORE_NAMES) {
  describe(`the last key with keys:admin, on ${STORE}`, () => {
    const service = inProcessService({ STORE });
    const createKey = async (fields: object) => {
      const { id, key } = (await service.post('/v1/api-keys', fields)).json;
      return { path: `/v1/api-keys/${id}`, id, token: key as string };
    };
    const outcomeOf = ({ status, text }: HttpResponse) => [status, text === '' ? undefined : JSON.parse(text).code];
    const revoke = async (path: string, options: RequestOptions = {}) => outcomeOf(await service.delete(path, options));
    const REFUSED = [409, 'last_admin_key'];

    it('cannot revoke itself and keeps working', async () => {
      expect(await revoke(FIRST)).to.deep.equal(REFUSED);
      expect((await service.get(FIRST)).status).to.equal(200);
      expect(await revoke('/api-keys/1'), 'without the version in the path').to.deep.equal(REFUSED);
    });

    it('cannot be revoked by an access token issued for it', async () => {
      const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: '1' });
      form.set('client_secret', FIRST_KEY);
      const { access_token: token } = (
        await service.post('/oauth/token', `${form}`, {
          token: null,
          headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        })
      ).json;
      expect(await revoke(FIRST, { token })).to.deep.equal(REFUSED);
    });

    it('is still the last one if the other keys lack the scope, have expired or are revoked', async () => {
      await createKey(READER);
      const expiring = await createKey({ ...ADMIN, expiresAt: new Date(service.clock.now() + 60_000).toISOString() });
      const other = await createKey(ADMIN);
      expect(await revoke(other.path), 'one of several').to.deep.equal([204, undefined]);
      service.clock.pass(60_000);
      expect((await service.get('/v1/api-keys', { token: expiring.token })).status).to.equal(401);
      expect(await revoke(FIRST)).to.deep.equal(REFUSED);
      expect(await revoke(expiring.path), 'an expired key').to.deep.equal([204, undefined]);
    });

    it('is reported after 404, 412 and 403', async () => {
      expect(await revoke('/v1/api-keys/999')).to.deep.equal([404, 'not_found']);
      const headers = { 'If-Match': '"7"' };
      expect(await revoke(FIRST, { headers })).to.deep.equal([412, 'precondition_failed']);
      expect(await revoke(FIRST, { headers: { 'If-Match': '*' } })).to.deep.equal(REFUSED);
      const { token, path } = await createKey(READER);
      expect(await revoke(FIRST, { token })).to.deep.equal([403, 'insufficient_scope']);
      expect(await revoke(path)).to.deep.equal([204, undefined]);
    });
  });

  describe(`the last two keys with keys:admin, on ${STORE}`, () => {
    const service = inProcessService({ STORE });
    let survivor = FIRST_KEY;

    for (const whose of ['themselves', 'each other'])
      it(`leave exactly one if they revoke ${whose} concurrently`, async () => {
        for (let round = 0; round < sized({ gate: 4, night: 8 }); round++) {
          // Failed authentications with a revoked key count against the IP address.
          const from = `127.0.${whose.length}.${round + 1}`;
          const { id, key } = (await service.post('/v1/api-keys', ADMIN, { token: survivor })).json;
          const all: { id: number; scopes: string[] }[] = (await service.get('/v1/api-keys', { token: survivor })).json;
          const own = all.find((one) => one.id !== id && one.scopes.includes('keys:admin'))?.id;
          const pairs = [
            { token: survivor, id: own },
            { token: key as string, id },
          ];
          const ids = whose === 'themselves' ? [own, id] : [id, own];
          const responses = await Promise.all(
            pairs.flatMap(({ token }, at) =>
              [1, 2, 3].map(() => service.delete(`/v1/api-keys/${ids[at]}`, { token, from })),
            ),
          );
          const statuses = responses.map(({ status }) => status);
          expect(
            statuses.filter((status) => status === 204),
            `${statuses}`,
          ).to.have.length(1);
          const left = [];
          for (const { token } of pairs)
            if ((await service.get('/v1/api-keys', { token, from })).status === 200) left.push(token);
          expect(left, `${statuses}`).to.have.length(1);
          survivor = left[0] ?? '';
        }
      });
  });
}

describe('the last key with keys:admin, among 1,100 keys', () => {
  const service = inProcessService();

  it('is still recognized as the last one', async () => {
    const request = service.client;
    const count = 1_100;
    const { apiKeys } = service.application;
    for (let i = 0; i < count; i++) await apiKeys.create({ name: `r${i}`, scopes: ['products:read'] });
    expect((await request.delete(FIRST)).json.code).to.equal('last_admin_key');
    const { key: token } = (await request.post('/v1/api-keys', ADMIN)).json;
    expect((await request.delete(FIRST)).status, 'another key is the last one now').to.equal(204);
    expect((await request.get('/v1/api-keys?limit=1', { token })).status).to.equal(200);
  });
});
