import { expect } from 'chai';
import type { Collection } from './collection.js';

export function describeDelete(collection: Collection): void {
  describe('DELETE', () => {
    it('returns 204 without a body', async () => {
      const { path } = await collection.create();
      const response = await collection.client.delete(path);
      expect([response.status, response.text]).to.deep.equal([204, '']);
      expect(response.headers).to.not.have.property('content-type');
      expect(response.headers['cache-control']).to.equal('no-store');
    });

    it('makes later requests 404, even if they are otherwise invalid', async () => {
      const { path } = await collection.create();
      await collection.client.delete(path);
      for (const [method, options] of [
        ['PUT', { body: '{' }],
        ['PUT', { body: collection.fields() }],
        ['PATCH', { body: '{}', headers: { 'Content-Type': 'text/plain' } }],
        ['GET', { headers: { Accept: 'text/html' } }],
        ['DELETE', { headers: { 'If-Match': 'nonsense' } }],
      ] as const) {
        expect((await collection.client.request(method, `${path}?x=1`, options)).status, method).to.equal(404);
        expect((await collection.client.request(method, path, options)).status, method).to.equal(404);
      }
    });

    it('frees unique values, but never the id', async () => {
      const { id, path, fields } = await collection.create();
      await collection.client.delete(path);
      const again = await collection.create(fields);
      expect(again.id).to.be.greaterThan(id);
      expect((await collection.client.get(path)).status).to.equal(404);
    });
  });
}
