import { expect } from 'chai';
import { expectIssues, type HttpResponse } from '../../support/http-client.js';
import type { Collection, InvalidFields } from './collection.js';

/** `random-values` sends every kind of wrong value to each field. */
export function describeValidation(collection: Collection): void {
  const { client } = collection;

  describe('invalid fields', () => {
    const required = Object.keys(collection.resource.fields(0));
    const cases: InvalidFields[] = [
      ...Object.keys(collection.definition.table).map(
        (field): InvalidFields => [`a ${field} of another type`, { [field]: true }, [`invalid_type /${field}`]],
      ),
      ['unknown fields', { colour: 'red', 'a/~b': 1 }, ['unknown_field /colour', 'unknown_field /a~1~0b']],
      ...collection.resource.invalid,
    ];
    const expectAll = async (issues: readonly string[], ...responses: Promise<HttpResponse>[]) => {
      for (const response of responses) expectDetails(await expectIssues(response, 'validation_failed', issues));
    };
    /** Each write of a body; a PATCH has its own. */
    const expectRefused = (path: string, body: unknown, issues: readonly string[], patch = body) =>
      expectAll(issues, client.post(collection.path, body), client.put(path, body), client.patch(path, patch));

    it('are rejected by every write, with all issues', async () => {
      for (const [title, fields, expected] of cases) {
        const { path, fields: valid } = await collection.create();
        await expectRefused(path, { ...collection.fields(), ...fields }, expected, fields);
        const now = await client.get(path);
        expect(now.json, title).to.deep.include(valid);
        expect(now.headers.etag).to.equal('"1"');
      }
    });

    it('are reported for each required field that is missing or null', async () => {
      const { path } = await collection.create();
      const allNull = Object.fromEntries(required.map((field) => [field, null]));
      const issues = (code: string) => required.map((field) => `${code} /${field}`);
      await expectRefused(path, {}, issues('required'), allNull);
      await expectAll(issues('invalid_type'), client.post(collection.path, allNull), client.put(path, allNull));
    });

    it('are reported together with read-only fields', async () => {
      const { id, path } = await collection.create();
      const bad = { id: id + 1, colour: 'red' };
      const issues = ['read_only_field /id', 'unknown_field /colour'];
      await expectRefused(path, { ...collection.fields(), ...bad }, issues, bad);
    });

    it('are reported for a body that is not an object', async () => {
      const { path } = await collection.create();
      for (const body of ['[]', '[{}]', '"x"', '7', 'null', 'true']) await expectRefused(path, body, ['invalid_type ']);
    });
  });
}

function expectDetails({ json }: HttpResponse): void {
  expect(Object.keys(json)).to.deep.equal(['code', 'message', 'details']);
  for (const detail of json.details) {
    expect(Object.keys(detail)).to.deep.equal(['code', 'message', 'in', 'pointer']);
    expect(detail.in).to.equal('body');
    expect(detail.message).to.be.a('string').and.not.equal('');
  }
}
