import { expect } from 'chai';
import { issueLocations } from '../../support/http-client.js';
import { type Collection, MINIMAL } from './collection.js';

export function replacement(all: Collection): void {
  describe('PUT', () => {
    it('puts other fields in the place of all', async () => {
      const { id, path } = await all.created();
      const fields = all.fields();
      const response = await all.client.put(path, fields);
      expect([response.status, response.text]).to.deep.equal([200, JSON.stringify({ id, ...fields })]);
      expect(response.headers).to.include({ etag: '"2"', 'cache-control': 'no-store' });
      expect((await all.client.get(path)).text).to.equal(response.text);
    });

    it('never creates', async () => {
      expect((await all.client.put(all.nowhere, all.fields())).status).to.equal(404);
      expect((await all.client.get(all.nowhere)).status).to.equal(404);
    });

    it('takes back what GET showed, id and metadata with their stored values', async () => {
      const { path } = await all.created();
      const shown = (await all.client.get(path)).json;
      const response = await all.client.put(path, { ...shown, ...all.fields(), version: 1 });
      expect([response.status, response.headers.etag]).to.deep.equal([200, '"2"']);
    });

    it('takes no other values of them', async () => {
      const { id, path, fields } = await all.created();
      const stale = { id: id + 1, version: 2, createdAt: 'then', updatedAt: null };
      expect(issueLocations(await all.client.put(path, { ...fields, ...stale }))).to.deep.equal(
        Object.keys(stale).map((field) => ['read_only_field', `/${field}`]),
      );
    });

    it('leaves the version where nothing changes, whatever the order of the fields', async () => {
      const { path, fields } = await all.created();
      const same = Object.fromEntries(Object.entries(fields).toReversed());
      const response = await all.client.put(path, same);
      expect([response.status, response.headers.etag]).to.deep.equal([200, '"1"']);
    });

    it('answers 204 under Prefer: return=minimal', async () => {
      const { path } = await all.created();
      const response = await all.client.put(path, all.fields(), MINIMAL);
      expect([response.status, response.text, response.headers.etag]).to.deep.equal([204, '', '"2"']);
      expect(response.headers['preference-applied']).to.equal('return=minimal');
    });
  });
}
