import { expect } from 'chai';
import { issuesOf } from '../../support/http-client.js';
import { type Collection, MINIMAL } from './collection.js';

export function describePost(collection: Collection): void {
  describe('POST', () => {
    it('creates a record, and returns its id and the fields that have a value', async () => {
      const fields = collection.fields();
      const response = await collection.client.post(collection.path, fields);
      const { id } = response.json;
      expect(response.status).to.equal(201);
      expect(response.text).to.equal(JSON.stringify({ id, ...fields }));
      expect(response.headers).to.include({
        location: `/v1/${collection.resource.plural}/${id}`,
        etag: '"1"',
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'api-version': '1',
      });
    });

    it('stores every field of the example unchanged', async () => {
      const { example } = collection.definition;
      const { json } = await collection.client.post(collection.path, example);
      expect(json).to.deep.equal({ id: json.id, ...example });
      await collection.client.delete(`${collection.path}/${json.id}`);
    });

    // request-headers.test.ts has the other preferences.
    it('omits the body with Prefer: return=minimal', async () => {
      const response = await collection.client.post(collection.path, collection.fields(), MINIMAL);
      expect([response.status, response.text]).to.deep.equal([201, '']);
      expect(response.headers).to.include({ 'preference-applied': 'return=minimal', etag: '"1"' });
      expect(response.headers).to.not.have.property('content-type');
      expect(response.headers.location).to.match(new RegExp(`^/v1/${collection.resource.plural}/\\d+$`));
    });

    it('rejects read-only fields', async () => {
      const readOnly = { id: 1, version: 1, createdAt: 'x', updatedAt: 'x' };
      expect(
        issuesOf(await collection.client.post(collection.path, { ...readOnly, ...collection.fields() })),
      ).to.deep.equal(Object.keys(readOnly).map((field) => `read_only_field /${field}`));
    });

    it('creates nothing from a rejected body', async () => {
      const before = (await collection.client.get(`${collection.path}?limit=1000`)).text;
      await collection.client.post(collection.path, { ...collection.fields(), colour: 'red' });
      await collection.client.post(collection.path, { ...collection.fields(), colour: 'red' }, MINIMAL);
      expect((await collection.client.get(`${collection.path}?limit=1000`)).text).to.equal(before);
    });
  });
}
