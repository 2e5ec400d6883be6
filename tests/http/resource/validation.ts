import { expect } from 'chai';
import { expectIssues, type HttpResponse } from '../../support/http-client.js';
import type { Collection, InvalidFields } from './collection.js';

/** `random-values` sends every kind of wrong value to each field. */
export function describeValidation(collection: Collection): void {
  const { client } = collection;

  describe('invalid fields', () => {
    const cases: InvalidFields[] = [
      ['unknown fields', { colour: 'red', 'a/~b': 1 }, ['unknown_field /colour', 'unknown_field /a~1~0b']],
      ['read-only fields', { id: 1_000_000, colour: 'red' }, ['read_only_field /id', 'unknown_field /colour']],
      ...collection.resource.invalid,
    ];
    it('are rejected by every write, with all issues', async () => {
      for (const [title, fields, expected] of cases) {
        const { path, fields: valid } = await collection.create();
        const body = { ...collection.fields(), ...fields };
        for (const write of [client.post(collection.path, body), client.put(path, body), client.patch(path, fields)])
          expectDetails(await expectIssues(write, 'validation_failed', expected, title));
        const now = await client.get(path);
        expect(now.json, title).to.deep.include(valid);
        expect(now.headers.etag).to.equal('"1"');
      }
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
