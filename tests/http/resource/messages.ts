import { expect } from 'chai';
import type { Collection } from './collection.js';

const PATCH_TYPES = 'application/merge-patch+json, application/json-patch+json, application/json';

/** More than a resource will ever have. */
const NO_VERSION = '1000';

export function messages(all: Collection): void {
  describe('methods', () => {
    it('are told by OPTIONS, to anyone', async () => {
      const list = await all.client.request('OPTIONS', `${all.path}?limit=1`, { token: null });
      expect([list.status, list.text, list.headers.allow]).to.deep.equal([
        204,
        '',
        'GET, HEAD, POST, OPTIONS',
      ]);
      const item = await all.client.request('OPTIONS', `${all.path}/1`, { token: null });
      expect([item.status, item.headers.allow]).to.deep.equal([
        204,
        'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
      ]);
      expect(item.headers['accept-patch']).to.equal(PATCH_TYPES);
    });

    for (const [method, item] of [
      ['PUT', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['TRACE', ''],
      ['POST', '/1'],
      ['PURGE', '/1'],
    ] as const) {
      it(`are 405 with Allow where they are lacking: ${method} ${item && 'of an item'}`, async () => {
        const response = await all.client.request(method, all.path + item);
        expect([response.status, response.json.code]).to.deep.equal([405, 'method_not_allowed']);
        expect(response.headers.allow).to.include('GET, HEAD');
        expect(response.headers['cache-control']).to.equal('no-store');
      });
    }
  });

  describe('media types', () => {
    it('of a body are JSON, or 415', async () => {
      const { path, fields } = await all.created();
      for (const [method, address, type] of [
        ['POST', all.path, 'text/plain'],
        ['POST', all.path, 'application/merge-patch+json'],
        ['PUT', path, 'application/merge-patch+json'],
        ['PATCH', path, 'text/plain'],
      ] as const) {
        const response = await all.client.request(method, address, {
          body: fields,
          headers: { 'Content-Type': type },
        });
        expect([response.status, response.json.code], method).to.deep.equal([415, 'unsupported_media_type']);
        expect(response.headers['accept-patch'], method).to.equal(
          method === 'PATCH' ? PATCH_TYPES : undefined,
        );
      }
    });

    it('of an answer are JSON, or 406', async () => {
      const { path } = await all.created();
      for (const address of [all.path, path]) {
        const response = await all.client.get(address, { headers: { Accept: 'text/html' } });
        expect([response.status, response.json.code], address).to.deep.equal([406, 'not_acceptable']);
      }
    });
  });

  it('an unknown version, and an address that is nearly one, are refused', async () => {
    const response = await all.client.get(all.path, { headers: { 'API-Version': NO_VERSION } });
    expect([response.status, response.json.code]).to.deep.equal([400, 'unsupported_version']);
    for (const path of [`${all.path}/`, `${all.path}/0`, `${all.path}/01`, `${all.path}/x`]) {
      expect((await all.client.get(path)).status, path).to.equal(404);
    }
  });
}
