import { expect } from 'chai';
import { issueLocations } from '../../support/http-client.js';
import { type Collection, MINIMAL } from './collection.js';

export function change(all: Collection): void {
  describe('PATCH', () => {
    for (const type of [
      'application/json',
      'application/merge-patch+json',
      'Application/JSON; Charset="UTF-8"',
    ]) {
      it(`merges what comes as ${type}, field by field`, async () => {
        const { id, path, fields } = await all.created();
        const others = all.fields();
        for (const [version, field] of Object.keys(others).entries()) {
          const headers = { 'Content-Type': type };
          const response = await all.client.patch(path, { [field]: others[field] }, { headers });
          expect(response.status, response.text).to.equal(200);
          expect(response.json).to.deep.equal({ ...fields, ...firstOf(others, version + 1), id });
          expect(response.headers['cache-control']).to.equal('no-store');
        }
        expect((await all.client.get(path)).json).to.deep.equal({ id, ...others });
      });
    }

    it('changes nothing, and no version, by a patch that says nothing new', async () => {
      const { id, path, fields } = await all.created();
      for (const patch of [{}, fields, { id }, { version: 1 }, { colour: null }]) {
        const response = await all.client.patch(path, patch);
        expect([response.status, response.headers.etag], JSON.stringify(patch)).to.deep.equal([200, '"1"']);
        expect(response.json).to.deep.equal({ id, ...fields });
      }
    });

    it('takes no other values of what the service gives', async () => {
      const { path } = await all.created();
      const given = { id: null, version: 0, createdAt: 'then', updatedAt: {} };
      expect(issueLocations(await all.client.patch(path, given))).to.deep.equal(
        Object.keys(given).map((field) => ['read_only_field', `/${field}`]),
      );
    });

    it('answers 204 under Prefer: return=minimal', async () => {
      const { path } = await all.created();
      const response = await all.client.patch(path, all.fields(), MINIMAL);
      expect([response.status, response.text, response.headers.etag]).to.deep.equal([204, '', '"2"']);
    });

    it('answers 404 where there is nothing to patch', async () => {
      expect((await all.client.patch(all.nowhere, {})).status).to.equal(404);
    });
  });
}

function firstOf(fields: object, count: number): object {
  return Object.fromEntries(Object.entries(fields).slice(0, count));
}
