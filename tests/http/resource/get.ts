import { expect } from 'chai';
import { type Collection, lasting } from './collection.js';

export function reading(all: Collection): void {
  describe('GET', () => {
    it('shows the record with its version as a strong tag', async () => {
      const { id, path, fields } = await all.created();
      const response = await all.client.get(path);
      expect([response.status, response.text]).to.deep.equal([200, JSON.stringify({ id, ...fields })]);
      expect(response.headers).to.include({
        etag: '"1"',
        'content-type': 'application/json',
        'cache-control': all.resource.cacheControl,
        'api-version': '1',
        vary: all.path.startsWith('/v1/') ? 'Accept' : 'API-Version, Accept',
      });
    });

    it('shows it in the list, with the same marking', async () => {
      const { id, fields } = await all.created();
      const response = await all.client.get(`${all.path}?sort=-id&limit=1000`);
      expect(response.status).to.equal(200);
      expect(response.json.at(0)).to.deep.equal({ id, ...fields });
      expect(response.headers['cache-control']).to.equal(all.resource.cacheControl);
    });

    it('answers HEAD with the same headers and no body', async () => {
      const { path } = await all.created();
      for (const address of [path, all.path]) {
        const [got, head] = [await all.client.get(address), await all.client.request('HEAD', address)];
        expect([head.status, head.text]).to.deep.equal([200, '']);
        expect(lasting(head)).to.deep.equal(lasting(got));
      }
    });

    it('answers 404 for an id that was never given', async () => {
      const response = await all.client.get(all.nowhere);
      expect([response.status, response.json.code, response.json.details]).to.deep.equal([
        404,
        'not_found',
        [],
      ]);
      expect(response.headers['cache-control']).to.equal('no-store');
    });

    it('takes no parameter of an item that it does not know', async () => {
      const { path } = await all.created();
      expect((await all.client.get(`${path}?colour=red`)).json.code).to.equal('unknown_parameter');
    });
  });
}
