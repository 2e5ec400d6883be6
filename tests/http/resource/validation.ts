import { expect } from 'chai';
import { type HttpResponse, issueLocations } from '../../support/http-client.js';
import type { Collection, InvalidFields } from './collection.js';

export function describeValidation(collection: Collection): void {
  describe('invalid fields', () => {
    const required = Object.keys(collection.resource.fields(0));
    const { table } = collection.definition;
    const cases: InvalidFields[] = [
      ...Object.keys(table).map(
        (field): InvalidFields => [`a ${field} of another type`, { [field]: true }, [['invalid_type', `/${field}`]]],
      ),
      [
        'unknown fields',
        { colour: 'red', 'a/~b': 1 },
        [
          ['unknown_field', '/colour'],
          ['unknown_field', '/a~1~0b'],
        ],
      ],
      ...collection.resource.invalid,
    ];

    for (const [title, fields, expected] of cases) {
      it(`are rejected by every write, with all issues: ${title}`, async () => {
        const { path, fields: valid } = await collection.create();
        const bad = { ...collection.fields(), ...fields };
        expectIssues(await collection.client.post(collection.path, bad), expected);
        expectIssues(await collection.client.put(path, bad), expected);
        expectIssues(await collection.client.patch(path, fields), expected);
        const now = await collection.client.get(path);
        expect(now.json).to.deep.include(valid);
        expect(now.headers.etag).to.equal('"1"');
      });
    }

    it('are reported for each required field that is missing or null', async () => {
      const { path } = await collection.create();
      const allNull = Object.fromEntries(required.map((field) => [field, null]));
      const missing = required.map((field): [string, string] => ['required', `/${field}`]);
      const noValue = required.map((field): [string, string] => ['invalid_type', `/${field}`]);
      expectIssues(await collection.client.post(collection.path, {}), missing);
      expectIssues(await collection.client.put(path, {}), missing);
      expectIssues(await collection.client.patch(path, allNull), missing);
      expectIssues(await collection.client.post(collection.path, allNull), noValue);
      expectIssues(await collection.client.put(path, allNull), noValue);
    });

    it('are reported together with read-only fields', async () => {
      const { id, path } = await collection.create();
      const expected: [string, string][] = [
        ['read_only_field', '/id'],
        ['unknown_field', '/colour'],
      ];
      const bad = { id: id + 1, colour: 'red' };
      expectIssues(await collection.client.post(collection.path, { ...collection.fields(), ...bad }), expected);
      expectIssues(await collection.client.put(path, { ...collection.fields(), ...bad }), expected);
      expectIssues(await collection.client.patch(path, bad), expected);
    });

    it('are reported for a body that is not an object', async () => {
      const { path } = await collection.create();
      for (const body of ['[]', '[{}]', '"x"', '7', 'null', 'true']) {
        expectIssues(await collection.client.post(collection.path, body), [['invalid_type', '']]);
        expectIssues(await collection.client.put(path, body), [['invalid_type', '']]);
        expectIssues(await collection.client.patch(path, body), [['invalid_type', '']]);
      }
    });
  });
}

function expectIssues(response: HttpResponse, expected: readonly (readonly [string, string])[]): void {
  expect([response.status, response.json.code], response.text).to.deep.equal([400, 'validation_failed']);
  expect(Object.keys(response.json)).to.deep.equal(['code', 'message', 'details']);
  expect(issueLocations(response)).to.deep.equal(expected);
  for (const detail of response.json.details) {
    expect(Object.keys(detail)).to.deep.equal(['code', 'message', 'in', 'pointer']);
    expect(detail.in).to.equal('body');
    expect(detail.message).to.be.a('string').and.not.equal('');
  }
}
