import { expect } from 'chai';
import { issuesOf } from '../../support/http-client.js';
import { type Collection, MINIMAL } from './collection.js';

export function describePatch(collection: Collection): void {
  describe('PATCH', () => {
    for (const type of ['application/json', 'application/merge-patch+json', 'Application/JSON; Charset="UTF-8"'])
      it(`merges fields sent as ${type}`, async () => {
        const { id, path, fields } = await collection.create();
        const others = collection.fields();
        for (const [version, field] of Object.keys(others).entries()) {
          const headers = { 'Content-Type': type };
          const response = await collection.client.patch(path, { [field]: others[field] }, { headers });
          expect(response.status, response.text).to.equal(200);
          expect(response.json).to.deep.equal({ ...fields, ...firstOf(others, version + 1), id });
          expect(response.headers['cache-control']).to.equal('no-store');
        }
        expect((await collection.client.get(path)).json).to.deep.equal({ id, ...others });
      });

    it('keeps the version if nothing changes', async () => {
      const { id, path, fields } = await collection.create();
      for (const patch of [{}, fields, { id }, { version: 1 }, { colour: null }]) {
        const response = await collection.client.patch(path, patch);
        expect([response.status, response.headers.etag], JSON.stringify(patch)).to.deep.equal([200, '"1"']);
        expect(response.json).to.deep.equal({ id, ...fields });
      }
    });

    it('rejects changes to read-only fields', async () => {
      const { path } = await collection.create();
      const readOnly = { id: null, version: 0, createdAt: 'then', updatedAt: {} };
      expect(issuesOf(await collection.client.patch(path, readOnly))).to.deep.equal(
        Object.keys(readOnly).map((field) => `read_only_field /${field}`),
      );
    });

    it('returns 204 with Prefer: return=minimal', async () => {
      const { path } = await collection.create();
      const response = await collection.client.patch(path, collection.fields(), MINIMAL);
      expect([response.status, response.text, response.headers.etag]).to.deep.equal([204, '', '"2"']);
    });

    it('returns 404 for a missing record', async () => {
      expect((await collection.client.patch(collection.missingPath, {})).status).to.equal(404);
    });
  });
}

function firstOf(fields: object, count: number): object {
  return Object.fromEntries(Object.entries(fields).slice(0, count));
}
