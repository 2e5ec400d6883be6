import { expect } from 'chai';
import { issuesOf } from '../../support/http-client.js';
import { type Collection, MINIMAL } from './collection.js';

export function describePut(collection: Collection): void {
  describe('PUT', () => {
    it('replaces all fields', async () => {
      const { id, path } = await collection.create();
      const fields = collection.fields();
      const response = await collection.client.put(path, fields);
      expect([response.status, response.text]).to.deep.equal([200, JSON.stringify({ id, ...fields })]);
      expect(response.headers).to.include({ etag: '"2"', 'cache-control': 'no-store' });
      expect((await collection.client.get(path)).text).to.equal(response.text);
    });

    it('never creates a record', async () => {
      expect((await collection.client.put(collection.missingPath, collection.fields())).status).to.equal(404);
      expect((await collection.client.get(collection.missingPath)).status).to.equal(404);
    });

    it('accepts the response of GET, with unchanged id and metadata', async () => {
      const { path } = await collection.create();
      const body = (await collection.client.get(path)).json;
      const response = await collection.client.put(path, { ...body, ...collection.fields(), version: 1 });
      expect([response.status, response.headers.etag]).to.deep.equal([200, '"2"']);
    });

    it('rejects a changed id or metadata', async () => {
      const { id, path, fields } = await collection.create();
      const stale = { id: id + 1, version: 2, createdAt: 'then', updatedAt: 'then' };
      expect(issuesOf(await collection.client.put(path, { ...fields, ...stale }))).to.deep.equal(
        Object.keys(stale).map((field) => `read_only_field /${field}`),
      );
    });

    it('keeps the version if nothing changes, in any order of the fields', async () => {
      const { path, fields } = await collection.create();
      const same = Object.fromEntries(Object.entries(fields).toReversed());
      const response = await collection.client.put(path, same);
      expect([response.status, response.headers.etag]).to.deep.equal([200, '"1"']);
    });

    it('returns 204 with Prefer: return=minimal', async () => {
      const { path } = await collection.create();
      const response = await collection.client.put(path, collection.fields(), MINIMAL);
      expect([response.status, response.text, response.headers.etag]).to.deep.equal([204, '', '"2"']);
      expect(response.headers['preference-applied']).to.equal('return=minimal');
    });
  });
}
