import { expect } from 'chai';
import type { Collection } from './collection.js';

export function describeDelete(collection: Collection): void {
  describe('DELETE', () => {
    it('returns 204 without a body, and 404 for later requests', async () => {
      const { path } = await collection.create();
      const response = await collection.client.delete(path);
      expect([response.status, response.text]).to.deep.equal([204, '']);
      expect(response.headers).to.not.have.property('content-type');
      expect(response.headers['cache-control']).to.equal('no-store');
      for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
        const body = method === 'PUT' || method === 'PATCH' ? collection.fields() : undefined;
        expect((await collection.client.request(method, path, { body })).status, method).to.equal(404);
      }
    });

    it('makes later requests 404, even if they are otherwise invalid', async () => {
      const { path } = await collection.create();
      await collection.client.delete(path);
      for (const [method, options] of [
        ['PUT', { body: '{' }],
        ['PUT', { body: '{}' }],
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

    it('succeeds for exactly one of 10 concurrent requests', async () => {
      const { path } = await collection.create();
      const responses = await Promise.all(Array.from({ length: 10 }, () => collection.client.delete(path)));
      expect(responses.map(({ status }) => status).toSorted()).to.deep.equal([204, ...Array(9).fill(404)]);
    });
  });
}
