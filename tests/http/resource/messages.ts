import { expect } from 'chai';
import { expectRefusal } from '../../support/http-client.js';
import type { Collection } from './collection.js';

const PATCH_TYPES = 'application/merge-patch+json, application/json-patch+json, application/json';

export function describeMessages(collection: Collection): void {
  describe('methods', () => {
    it('are listed by OPTIONS, without a token', async () => {
      const list = await collection.client.request('OPTIONS', `${collection.path}?limit=1`, { token: null });
      expect([list.status, list.text, list.headers.allow]).to.deep.equal([204, '', 'GET, HEAD, POST, OPTIONS']);
      const item = await collection.client.request('OPTIONS', `${collection.path}/1`, { token: null });
      expect([item.status, item.headers.allow]).to.deep.equal([204, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS']);
      expect(item.headers['accept-patch']).to.equal(PATCH_TYPES);
    });

    it('get 405 with Allow if they are unsupported', async () => {
      for (const [method, item] of [
        ['PUT', ''],
        ['TRACE', ''],
        ['POST', '/1'],
        ['PURGE', '/1'],
      ] as const) {
        const response = await expectRefusal(
          collection.client.request(method, collection.path + item),
          'method_not_allowed',
          method,
        );
        expect(response.headers.allow).to.include('GET, HEAD');
        expect(response.headers['cache-control']).to.equal('no-store');
      }
    });
  });

  describe('media types', () => {
    it('of request bodies must be JSON, else 415', async () => {
      const { path, fields } = await collection.create();
      for (const [method, url, type] of [
        ['POST', collection.path, 'text/plain'],
        ['POST', collection.path, 'application/merge-patch+json'],
        // The name of a member that every object inherits.
        ['POST', collection.path, 'constructor'],
        ['PUT', path, 'application/merge-patch+json'],
        ['PATCH', path, 'text/plain'],
      ] as const) {
        const response = await expectRefusal(
          collection.client.request(method, url, { body: fields, headers: { 'Content-Type': type } }),
          'unsupported_media_type',
          method,
        );
        expect(response.headers['accept-patch'], method).to.equal(method === 'PATCH' ? PATCH_TYPES : undefined);
        // Only NDJSON has another path.
        expect(response.json.message, method).to.match(/ without a content coding\.$/);
      }
    });
  });
}
