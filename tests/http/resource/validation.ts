import { expect } from 'chai';
import { type HttpResponse, issueLocations } from '../../support/http-client.js';
import type { Collection, FaultyFields } from './collection.js';

export function issues(all: Collection): void {
  describe('fields that break a rule', () => {
    const required = Object.keys(all.resource.fields(0));
    const everywhere: FaultyFields[] = [
      ...required.map(
        (field): FaultyFields => [
          `a ${field} of another type`,
          { [field]: true },
          [['invalid_type', `/${field}`]],
        ],
      ),
      [
        'a field that is none',
        { colour: 'red', 'a/~b': 1 },
        [
          ['unknown_field', '/colour'],
          ['unknown_field', '/a~1~0b'],
        ],
      ],
      ...all.resource.faulty,
    ];

    for (const [what, fields, expected] of everywhere) {
      it(`are refused by every write, all at once: ${what}`, async () => {
        const { path, fields: good } = await all.created();
        const bad = { ...all.fields(), ...fields };
        expectIssues(await all.client.post(all.path, bad), expected);
        expectIssues(await all.client.put(path, bad), expected);
        expectIssues(await all.client.patch(path, fields), expected);
        const now = await all.client.get(path);
        expect(now.json).to.deep.include(good);
        expect(now.headers.etag).to.equal('"1"');
      });
    }

    it('are told of each required field that is not there, or null', async () => {
      const { path } = await all.created();
      const nothing = Object.fromEntries(required.map((field) => [field, null]));
      const missing = required.map((field): [string, string] => ['required', `/${field}`]);
      const noValue = required.map((field): [string, string] => ['invalid_type', `/${field}`]);
      expectIssues(await all.client.post(all.path, {}), missing);
      expectIssues(await all.client.put(path, {}), missing);
      expectIssues(await all.client.patch(path, nothing), missing);
      expectIssues(await all.client.post(all.path, nothing), noValue);
      expectIssues(await all.client.put(path, nothing), noValue);
    });

    it('are told beside those that the service gives', async () => {
      const { id, path } = await all.created();
      const expected: [string, string][] = [
        ['read_only_field', '/id'],
        ['unknown_field', '/colour'],
      ];
      const bad = { id: id + 1, colour: 'red' };
      expectIssues(await all.client.post(all.path, { ...all.fields(), ...bad }), expected);
      expectIssues(await all.client.put(path, { ...all.fields(), ...bad }), expected);
      expectIssues(await all.client.patch(path, bad), expected);
    });

    it('are told of a body that is no object', async () => {
      const { path } = await all.created();
      for (const body of ['[]', '[{}]', '"x"', '7', 'null', 'true']) {
        expectIssues(await all.client.post(all.path, body), [['invalid_type', '']]);
        expectIssues(await all.client.put(path, body), [['invalid_type', '']]);
        expectIssues(await all.client.patch(path, body), [['invalid_type', '']]);
      }
    });

    it('are told in bounds, and never overflow, however many they are', async () => {
      const many = Object.fromEntries(Array.from({ length: 4_900 }, (_, i) => [`m${i}`, 0]));
      const [field = ''] = required;
      // Together at most 10,000 names and values.
      for (const body of [many, { ...many, ...all.fields() }, { ...all.fields(), [field]: many }]) {
        const response = await all.client.post(all.path, body);
        expect([response.status, response.json.code]).to.deep.equal([400, 'validation_failed']);
        expect(response.json.details.length).to.be.within(1, 1_000);
        if (body !== many) expect(response.text, 'what was sent is not missing').to.not.include('"required"');
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
