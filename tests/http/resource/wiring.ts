import { expect } from 'chai';
import { NDJSON, ndjson, outcomes, resultsOf } from '../../support/imports.js';
import type { Collection } from './collection.js';

/**
 * Tests one case of each operation that is the same code for all resources, as far as a resource has to be connected to
 * it. The whole contract tests these operations for one resource.
 */
export function describeWiring(collection: Collection): void {
  const request = () => collection.client;
  const withKey = (key: string) => ({ headers: { 'Idempotency-Key': key } });

  describe('each shared operation is there:', () => {
    it('an import creates a record for each valid line, reports the others, and with a key runs once', async () => {
      const [first, second] = [collection.fields(), collection.fields()];
      const [, invalid, issues = []] = collection.resource.invalid[0] ?? [];
      const run = async () =>
        resultsOf(
          await request().post(`${collection.path}/imports`, ndjson([first, { ...second, ...invalid }, second]), {
            headers: { ...NDJSON, ...withKey('import').headers },
          }),
        );
      const results = await run();
      expect(outcomes(results)).to.deep.equal([201, [400, 'validation_failed', ...issues], 201]);
      for (const [at, fields] of [first, undefined, second].entries())
        if (fields) expect((await request().get(`${collection.path}/${results[at].id}`)).json).to.deep.include(fields);
      expect((await run()).map(({ id }) => id)).to.deep.equal(results.map(({ id }) => id));
    });

    it('an import with match=id changes a record, and deletes it', async () => {
      const { id, fields } = await collection.create();
      const [name = '', value] = Object.entries(collection.fields()).at(-1) ?? [];
      const run = async (...lines: object[]) =>
        resultsOf(await request().post(`${collection.path}/imports?match=id`, ndjson(lines), { headers: NDJSON }));
      expect(await run({ id, [name]: value, version: 1 }, { id: id + 1_000_000 })).to.deep.equal([
        { line: 1, status: 200, id, version: 2 },
        { line: 2, status: 404, error: { code: 'not_found', message: 'Not found.', details: [] } },
      ]);
      expect((await request().get(`${collection.path}/${id}`)).json).to.deep.equal({ id, ...fields, [name]: value });
      expect(await run({ id, deleted: true })).to.deep.equal([{ line: 1, status: 204 }]);
    });

    it('a POST with an Idempotency-Key creates one record, and none with another body', async () => {
      const fields = collection.fields();
      const first = await request().post(collection.path, fields, withKey('once'));
      const again = await request().post(collection.path, fields, withKey('once'));
      expect([first.status, again.status, again.headers['idempotency-replayed']]).to.deep.equal([201, 201, 'true']);
      expect(again.text).to.equal(first.text);
      const other = await request().post(collection.path, collection.fields(), withKey('once'));
      expect(other.status).to.equal(422);
    });

    it('a JSON Patch replaces a field, and is validated', async () => {
      const { path, fields } = await collection.create();
      const [name = '', value] = Object.entries(collection.fields()).at(-1) ?? [];
      const patch = (operations: unknown) =>
        request().patch(path, JSON.stringify(operations), {
          headers: { 'Content-Type': 'application/json-patch+json' },
        });
      const patched = await patch([{ op: 'replace', path: `/${name}`, value }]);
      expect([patched.status, patched.headers.etag]).to.deep.equal([200, '"2"']);
      expect(patched.json).to.deep.include({ ...fields, [name]: value });
      expect((await patch([{ op: 'remove', path: `/${name}` }])).status).to.equal(400);
      expect((await patch([{ op: 'replace', path: '/id', value: 1e6 }])).status).to.equal(400);
    });

    it('a write with an outdated If-Match is rejected, and a read with If-None-Match is short', async () => {
      const { path, fields } = await collection.create();
      const stale = { headers: { 'If-Match': '"9"' } };
      for (const response of [
        await request().put(path, fields, stale),
        await request().patch(path, fields, stale),
        await request().delete(path, stale),
      ])
        expect([response.status, response.headers.etag]).to.deep.equal([412, '"1"']);
      const read = await request().get(path, { headers: { 'If-None-Match': '"1"' } });
      expect([read.status, read.text]).to.deep.equal([304, '']);
    });
  });
}
