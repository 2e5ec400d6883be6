import { expect } from 'chai';
import { type Collection, stableHeaders } from './collection.js';

export function describeGet(collection: Collection): void {
  describe('GET', () => {
    it('returns the record with its version as a strong ETag', async () => {
      const { id, path, fields } = await collection.create();
      const response = await collection.client.get(path);
      expect([response.status, response.text]).to.deep.equal([200, JSON.stringify({ id, ...fields })]);
      expect(response.headers).to.include({
        etag: '"1"',
        'content-type': 'application/json',
        'cache-control': collection.resource.cacheControl,
        'api-version': '1',
        vary: 'Accept',
      });
    });

    it('returns it in the list, with the same Cache-Control', async () => {
      const { id, fields } = await collection.create();
      const response = await collection.client.get(`${collection.path}?sort=-id&limit=1000`);
      expect(response.status).to.equal(200);
      expect(response.json.at(0)).to.deep.equal({ id, ...fields });
      expect(response.headers['cache-control']).to.equal(collection.resource.cacheControl);
    });

    it('returns a version as soon as it is acknowledged, also to a client that knows the one before', async () => {
      const { path } = await collection.create();
      for (const version of [2, 3]) {
        await collection.client.get(path);
        await collection.client.put(path, collection.fields());
        expect((await collection.client.get(path)).headers.etag).to.equal(`"${version}"`);
      }
    });

    it('returns the same headers and no body for HEAD', async () => {
      const { path } = await collection.create();
      for (const url of [path, collection.path]) {
        const [got, head] = [await collection.client.get(url), await collection.client.request('HEAD', url)];
        expect([head.status, head.text]).to.deep.equal([200, '']);
        expect(stableHeaders(head)).to.deep.equal(stableHeaders(got));
      }
    });

    it('returns 404 for an id that never existed', async () => {
      const response = await collection.client.get(collection.missingPath);
      expect([response.status, response.json.code, response.json.details]).to.deep.equal([404, 'not_found', []]);
      expect(response.headers['cache-control']).to.equal('no-store');
    });

    it('rejects an unknown parameter', async () => {
      const { path } = await collection.create();
      expect((await collection.client.get(`${path}?colour=red`)).json.code).to.equal('unknown_parameter');
    });
  });
}
