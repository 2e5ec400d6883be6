import { expect } from 'chai';
import type { Collection } from './collection.js';

export function deletion(all: Collection): void {
  describe('DELETE', () => {
    it('answers 204 without a body, and 404 to everything afterwards', async () => {
      const { path } = await all.created();
      const gone = await all.client.delete(path);
      expect([gone.status, gone.text]).to.deep.equal([204, '']);
      expect(gone.headers).to.not.have.property('content-type');
      expect(gone.headers['cache-control']).to.equal('no-store');
      for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
        const body = method === 'PUT' || method === 'PATCH' ? all.fields() : undefined;
        expect((await all.client.request(method, path, { body })).status, method).to.equal(404);
      }
    });

    it('makes everything about it 404, whatever else is wrong with the request', async () => {
      const { path } = await all.created();
      await all.client.delete(path);
      for (const [method, options] of [
        ['PUT', { body: '{' }],
        ['PUT', { body: '{}' }],
        ['PATCH', { body: '{}', headers: { 'Content-Type': 'text/plain' } }],
        ['GET', { headers: { Accept: 'text/html' } }],
        ['DELETE', { headers: { 'If-Match': 'nonsense' } }],
      ] as const) {
        expect((await all.client.request(method, `${path}?x=1`, options)).status, method).to.equal(404);
        expect((await all.client.request(method, path, options)).status, method).to.equal(404);
      }
    });

    it('frees what no two records share, but never the id', async () => {
      const { id, path, fields } = await all.created();
      await all.client.delete(path);
      const again = await all.created(fields);
      expect(again.id).to.be.greaterThan(id);
      expect((await all.client.get(path)).status).to.equal(404);
    });

    it('lets exactly one of many that race succeed', async () => {
      const { path } = await all.created();
      const responses = await Promise.all(Array.from({ length: 10 }, () => all.client.delete(path)));
      expect(responses.map(({ status }) => status).toSorted()).to.deep.equal([204, ...Array(9).fill(404)]);
    });
  });
}
