import { expect } from 'chai';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import { expectRefusal } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { TestIssuer } from '../support/test-issuer.js';

const ADMIN = { name: 'admin', scopes: ['keys:admin', 'products:read'] };
const READER = { name: 'reader', scopes: ['products:read'] };
const DAY_MS = 24 * 60 * 60_000;

for (const store of HTTP_STORE_NAMES)
  describe(`keys that an API key makes, on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    const make = async (token: string, fields: object) => service.post('/v1/api-keys', fields, { token });
    const made = async (token: string, fields: object) => {
      const { status, json, text } = await make(token, fields);
      expect(status, text).to.equal(201);
      return json as { readonly id: number; readonly key: string; readonly expiresAt?: string };
    };
    const tokenOf = async ({ id, key }: { readonly id: number; readonly key: string }) => {
      const form = `grant_type=client_credentials&client_id=${id}&client_secret=${key}`;
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const { json } = await service.post('/oauth/token', form, { headers });
      return json.access_token as string;
    };
    const revoke = async (id: number) => expect((await service.delete(`/v1/api-keys/${id}`)).status).to.equal(204);

    it('show the id of their maker, also behind an access token', async () => {
      const admin = await made(FIRST_KEY, ADMIN);
      const children = [await made(admin.key, READER), await made(await tokenOf(admin), READER)];
      expect(admin).to.have.property('createdBy', 1);
      for (const child of children) {
        expect(child).to.have.property('createdBy', admin.id);
        const { json } = await service.get(`/v1/api-keys/${child.id}`);
        expect(json).to.have.property('createdBy', admin.id);
      }
      const { json: listed } = await service.get(`/v1/api-keys?createdBy=${admin.id}`);
      expect(listed.map(({ id }: { id: number }) => id)).to.deep.equal(children.map(({ id }) => id));
      expect((await service.get('/v1/api-keys/1')).json).to.not.have.property('createdBy');
    });

    it('expire no later than their maker', async () => {
      const expiresAt = new Date(Date.now() + DAY_MS).toISOString();
      const admin = await made(FIRST_KEY, { ...ADMIN, expiresAt });
      for (const token of [admin.key, await tokenOf(admin)]) {
        expect((await made(token, READER)).expiresAt, 'by default').to.equal(expiresAt);
        const earlier = new Date(Date.now() + DAY_MS / 2).toISOString();
        expect((await made(token, { ...READER, expiresAt: earlier })).expiresAt).to.equal(earlier);
        const later = new Date(Date.parse(expiresAt) + 1).toISOString();
        const { status, json } = await make(token, { ...READER, expiresAt: later });
        const message = `expiresAt must be a time in the future, at most ${expiresAt}.`;
        const detail = { code: 'out_of_range', message, in: 'body', pointer: '/expiresAt' };
        expect([status, json.details]).to.deep.equal([400, [detail]]);
      }
    });

    it('are replayed as they were made', async () => {
      const admin = await made(FIRST_KEY, { ...ADMIN, expiresAt: new Date(Date.now() + DAY_MS).toISOString() });
      const options = { token: admin.key, headers: { 'Idempotency-Key': 'one' } };
      const { key: _secret, ...first } = (await service.post('/v1/api-keys', READER, options)).json;
      const again = await service.post('/v1/api-keys', READER, options);
      expect(again.headers).to.include({ 'idempotency-replayed': 'true' });
      expect(again.json).to.deep.equal(first);
    });

    it('are not made by a token whose key is revoked', async () => {
      const admin = await made(FIRST_KEY, ADMIN);
      const token = await tokenOf(admin);
      await made(token, READER);
      await revoke(admin.id);
      await expectRefusal(make(token, ADMIN), 'invalid_token');
      await expectRefusal(service.get('/v1/products', { token }), 'invalid_token');
      expect((await service.get(`/v1/api-keys?createdBy=${admin.id}`)).json).to.have.length(1);
    });

    it('end the tokens that were issued for them', async () => {
      const reader = await made(FIRST_KEY, READER);
      const token = await tokenOf(reader);
      expect((await service.get('/v1/products', { token })).status).to.equal(200);
      await revoke(reader.id);
      expect((await service.get('/v1/products', { token })).status).to.equal(401);
    });
  });

describe('a key that a token of another issuer makes', () => {
  const issuer = new TestIssuer();
  const service = inProcessService({}, { issuer });
  const token = () => issuer.token({ sub: 'somebody', scope: 'keys:admin products:read' });
  const make = async (fields: object) => service.post('/v1/api-keys', fields, { token: token() });

  it('shows the subject and expires within 90 days', async () => {
    const before = Date.now();
    const { json } = await make(READER);
    expect(json).to.include({ createdBySubject: 'somebody' }).and.not.have.property('createdBy');
    expect(Date.parse(json.expiresAt)).to.be.within(before + 90 * DAY_MS, Date.now() + 90 * DAY_MS);
    const expiresAt = new Date(Date.now() + 91 * DAY_MS).toISOString();
    const late = await make({ ...READER, expiresAt });
    expect([late.status, late.json.details[0].pointer]).to.deep.equal([400, '/expiresAt']);
  });

  it('makes only keys that end with it', async () => {
    const { json: admin } = await make({ ...READER, scopes: ['keys:admin', 'products:read'] });
    const { json: child } = await service.post('/v1/api-keys', READER, { token: admin.key });
    expect(child).to.include({ createdBy: admin.id, expiresAt: admin.expiresAt });
    expect(child).to.not.have.property('createdBySubject');
  });

  it('is replayed with the expiry that it has', async () => {
    const token = issuer.token({ scope: 'keys:admin products:read' });
    const options = { token, headers: { 'Idempotency-Key': 'one' } };
    const { key: _secret, ...first } = (await service.post('/v1/api-keys', READER, options)).json;
    service.clock.pass(60_000);
    const again = await service.post('/v1/api-keys', READER, options);
    expect(again.headers).to.include({ 'idempotency-replayed': 'true' });
    expect(again.json).to.deep.equal(first);
  });
});
