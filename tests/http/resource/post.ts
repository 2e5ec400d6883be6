import { expect } from 'chai';
import { issueLocations } from '../../support/http-client.js';
import { type Collection, MINIMAL } from './collection.js';

export function creation(all: Collection): void {
  describe('POST', () => {
    it('creates a record, and shows its id and just the fields that have a value', async () => {
      const fields = all.fields();
      const response = await all.client.post(all.path, fields);
      const { id } = response.json;
      expect(response.status).to.equal(201);
      expect(response.text).to.equal(JSON.stringify({ id, ...fields }));
      expect(response.headers).to.include({
        location: `/v1/${all.resource.plural}/${id}`,
        etag: '"1"',
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'api-version': '1',
      });
    });

    it('gives ascending ids', async () => {
      const ids = [];
      for (let i = 0; i < 3; i++) ids.push((await all.created()).id);
      expect(ids).to.deep.equal(ids.toSorted((a, b) => a - b));
      expect(new Set(ids)).to.have.length(3);
    });

    it('gives many that race an id each', async () => {
      const made = await Promise.all(Array.from({ length: 50 }, () => all.created()));
      expect(new Set(made.map(({ id }) => id))).to.have.length(50);
    });

    it('leaves the body out under Prefer: return=minimal', async () => {
      for (const Prefer of [
        'return=minimal',
        'respond-async, Return="minimal"; x=y, return=representation',
      ]) {
        const response = await all.client.post(all.path, all.fields(), { headers: { Prefer } });
        expect([response.status, response.text]).to.deep.equal([201, '']);
        expect(response.headers).to.include({ 'preference-applied': 'return=minimal', etag: '"1"' });
        expect(response.headers).to.not.have.property('content-type');
        expect(response.headers.location).to.match(new RegExp(`^/v1/${all.resource.plural}/\\d+$`));
      }
    });

    it('heeds no preference that is not one', async () => {
      for (const Prefer of [
        'foo="a, return=minimal"',
        'return="mini mal"',
        're turn=minimal',
        'return=representation, return=minimal',
      ]) {
        const response = await all.client.post(all.path, all.fields(), { headers: { Prefer } });
        expect(response.text, Prefer).to.not.equal('');
      }
    });

    it('takes nothing that the service gives', async () => {
      const given = { id: 1, version: 1, createdAt: 'x', updatedAt: null };
      expect(issueLocations(await all.client.post(all.path, { ...given, ...all.fields() }))).to.deep.equal(
        Object.keys(given).map((field) => ['read_only_field', `/${field}`]),
      );
    });

    it('makes nothing of a body that it refuses', async () => {
      const before = (await all.client.get(`${all.path}?limit=1000`)).text;
      await all.client.post(all.path, { ...all.fields(), colour: 'red' });
      await all.client.post(all.path, { ...all.fields(), colour: 'red' }, MINIMAL);
      expect((await all.client.get(`${all.path}?limit=1000`)).text).to.equal(before);
    });
  });
}
