import { expect } from 'chai';
import { expectRefusal } from '../../support/http-client.js';
import type { Collection } from './collection.js';

const ITEM_METHODS = 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS';
export const PATCH_TYPES = 'application/merge-patch+json, application/json-patch+json, application/json';

export function describeMessages(collection: Collection): void {
  const { client, path: base } = collection;

  describe('methods', () => {
    it('are listed by OPTIONS, without a token', async () => {
      const list = await client.request('OPTIONS', `${base}?limit=1`, { token: null });
      expect([list.status, list.text, list.headers.allow]).to.deep.equal([204, '', 'GET, HEAD, POST, OPTIONS']);
      const item = await client.request('OPTIONS', `${base}/1`, { token: null });
      expect([item.status, item.headers.allow]).to.deep.equal([204, ITEM_METHODS]);
      expect(item.headers['accept-patch']).to.equal(PATCH_TYPES);
    });

    it('get 405 with Allow if they are unsupported', async () => {
      for (const [method, url] of Object.entries({ PUT: base, TRACE: base, POST: `${base}/1`, PURGE: `${base}/1` })) {
        const { headers } = await expectRefusal(client.request(method, url), 'method_not_allowed', method);
        expect(headers.allow).to.include('GET, HEAD');
        expect(headers['cache-control']).to.equal('no-store');
      }
    });
  });

  it('media types of request bodies must be JSON, else 415', async () => {
    const { path, fields: body } = await collection.create();
    for (const [method, url, type] of [
      ['POST', base, 'text/plain'],
      ['POST', base, 'application/merge-patch+json'],
      // The name of a member that every object inherits.
      ['POST', base, 'constructor'],
      ['PUT', path, 'application/merge-patch+json'],
      ['PATCH', path, 'text/plain'],
    ] as const) {
      const options = { body, headers: { 'Content-Type': type } };
      const { json, headers } = await expectRefusal(client.request(method, url, options), 'unsupported_media_type');
      expect(headers['accept-patch'], method).to.equal(method === 'PATCH' ? PATCH_TYPES : undefined);
      // Only NDJSON has another path.
      expect(json.message, method).to.match(/ without a content coding\.$/);
    }
  });
}
