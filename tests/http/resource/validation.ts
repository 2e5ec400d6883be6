import { expect } from 'chai';
import { type HttpResponse, refusalOf } from '../../support/http-client.js';
import type { Collection, InvalidFields } from './collection.js';

export function describeValidation(collection: Collection): void {
  describe('invalid fields', () => {
    const required = Object.keys(collection.resource.fields(0));
    /** Each write of a body; a PATCH has its own. */
    const expectRefused = async (path: string, body: unknown, issues: readonly string[], patch = body) => {
      expectIssues(await collection.client.post(collection.path, body), issues);
      expectIssues(await collection.client.put(path, body), issues);
      expectIssues(await collection.client.patch(path, patch), issues);
    };
    const { table } = collection.definition;
    const cases: InvalidFields[] = [
      ...Object.keys(table).map(
        (field): InvalidFields => [`a ${field} of another type`, { [field]: true }, [`invalid_type /${field}`]],
      ),
      ['unknown fields', { colour: 'red', 'a/~b': 1 }, ['unknown_field /colour', 'unknown_field /a~1~0b']],
      ...collection.resource.invalid,
    ];

    for (const [title, fields, expected] of cases)
      it(`are rejected by every write, with all issues: ${title}`, async () => {
        const { path, fields: valid } = await collection.create();
        const bad = { ...collection.fields(), ...fields };
        await expectRefused(path, bad, expected, fields);
        const now = await collection.client.get(path);
        expect(now.json).to.deep.include(valid);
        expect(now.headers.etag).to.equal('"1"');
      });

    it('are reported for each required field that is missing or null', async () => {
      const { path } = await collection.create();
      const allNull = Object.fromEntries(required.map((field) => [field, null]));
      const missing = required.map((field) => `required /${field}`);
      const noValue = required.map((field) => `invalid_type /${field}`);
      await expectRefused(path, {}, missing, allNull);
      expectIssues(await collection.client.post(collection.path, allNull), noValue);
      expectIssues(await collection.client.put(path, allNull), noValue);
    });

    it('are reported together with read-only fields', async () => {
      const { id, path } = await collection.create();
      const expected = ['read_only_field /id', 'unknown_field /colour'];
      const bad = { id: id + 1, colour: 'red' };
      await expectRefused(path, { ...collection.fields(), ...bad }, expected, bad);
    });

    it('are reported for a body that is not an object', async () => {
      const { path } = await collection.create();
      for (const body of ['[]', '[{}]', '"x"', '7', 'null', 'true']) await expectRefused(path, body, ['invalid_type ']);
    });
  });
}

function expectIssues(response: HttpResponse, expected: readonly string[]): void {
  expect(refusalOf(response), response.text).to.deep.equal([400, 'validation_failed', ...expected]);
  expect(Object.keys(response.json)).to.deep.equal(['code', 'message', 'details']);
  for (const detail of response.json.details) {
    expect(Object.keys(detail)).to.deep.equal(['code', 'message', 'in', 'pointer']);
    expect(detail.in).to.equal('body');
    expect(detail.message).to.be.a('string').and.not.equal('');
  }
}
