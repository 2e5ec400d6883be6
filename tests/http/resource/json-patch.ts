import { expect } from 'chai';
import {
  expectIssues,
  expectRefusal,
  type HttpResponse,
  issuesOf,
  type RequestOptions,
  refusalOf,
} from '../../support/http-client.js';
import { type Collection, MINIMAL } from './collection.js';

const TYPE = { 'Content-Type': 'application/json-patch+json' };

export function describeJsonPatch(collection: Collection): void {
  const patch = (path: string, body: unknown, { headers }: RequestOptions = {}): Promise<HttpResponse> =>
    collection.client.patch(path, body, { headers: { ...TYPE, ...headers } });

  const expectUnchanged = async (path: string, fields: object) => {
    const now = await collection.client.get(path);
    expect(now.json).to.deep.include(fields);
    expect(now.headers.etag).to.equal('"1"');
  };

  describe('PATCH with a JSON Patch', () => {
    it('applies its operations in order, and returns the new record', async () => {
      const { id, path, fields } = await collection.create();
      const others = collection.fields();
      const operations = [
        { op: 'test', path: '', value: { id, ...fields } },
        ...Object.entries(others).map(([field, value]) => ({ op: 'replace', path: `/${field}`, value })),
        { op: 'test', path: '', value: { ...others, id } },
      ];
      const response = await patch(path, operations, {
        headers: { 'Content-Type': 'Application/JSON-Patch+JSON; charset=utf-8' },
      });
      expect([response.status, response.headers.etag], response.text).to.deep.equal([200, '"2"']);
      expect(response.headers['cache-control']).to.equal('no-store');
      expect(response.json).to.deep.equal({ id, ...others });
      expect((await collection.client.get(path)).json).to.deep.equal({ id, ...others });
    });

    it('returns 204 with Prefer: return=minimal', async () => {
      const { path, fields } = await collection.create();
      const [field = ''] = Object.keys(fields);
      const other = [{ op: 'replace', path: `/${field}`, value: collection.fields()[field] }];
      const response = await patch(path, other, MINIMAL);
      expect([response.status, response.text]).to.deep.equal([204, '']);
    });

    it('keeps the version if nothing changes', async () => {
      const { id, path, fields } = await collection.create();
      const shown = await collection.client.get(`${path}?fields=version,createdAt,updatedAt`);
      for (const operations of [
        [],
        [{ op: 'replace', path: '/id', value: id }],
        [
          { op: 'remove', path: '/id' },
          { op: 'add', path: '/id', value: id },
        ],
        [{ op: 'add', path: '', value: { id, ...fields } }],
        Object.entries(shown.json).map(([name, value]) => ({ op: 'add', path: `/${name}`, value })),
      ]) {
        const response = await patch(path, operations);
        expect([response.status, response.headers.etag], response.text).to.deep.equal([200, '"1"']);
      }
    });

    // json-patch.test.ts of tests/unit/application has every operation, pointer and size.
    it('is atomic: a failing test is 409, and what cannot be applied 400, and then nothing changes', async () => {
      const { path, fields } = await collection.create();
      const replacements = Object.entries(collection.fields()).map(([field, value]) => ({
        op: 'replace',
        path: `/${field}`,
        value,
      }));
      const last = replacements.length;
      for (const [operation, status, code, issue, location] of [
        [{ op: 'test', path: '/version', value: 1 }, 409, 'patch_test_failed', 'patch_test_failed', ''],
        [{ op: 'test', path: '/absent', value: null }, 409, 'patch_test_failed', 'patch_test_failed', ''],
        [{ op: 'replace', path: '/absent', value: 1 }, 400, 'invalid_patch', 'reference_not_found', '/path'],
        [{ op: 'spam', path: '/name' }, 400, 'invalid_patch', 'invalid_format', '/op'],
        [{ op: 'test', path: '/absent', value: 2 ** 53 }, 400, 'invalid_patch', 'out_of_range', '/value'],
        [{ op: 'test', path: '', value: { a: [-(2 ** 53)] } }, 400, 'invalid_patch', 'out_of_range', '/value'],
      ] as const) {
        const response = await patch(path, [...replacements, operation]);
        expect(refusalOf(response), response.text).to.deep.equal([status, code, `${issue} /${last}${location}`]);
        await expectUnchanged(path, fields);
      }
    });

    it('rejects any operation that changes a read-only field', async () => {
      const { id, path, fields } = await collection.create();
      const [field = ''] = Object.keys(fields);
      for (const operation of [
        { op: 'replace', path: '/id', value: id + 1 },
        { op: 'add', path: '/id', value: String(id) },
        { op: 'remove', path: '/id' },
        { op: 'copy', from: `/${field}`, path: '/id' },
        { op: 'add', path: '', value: fields },
      ])
        await expectIssues(patch(path, [operation]), 'validation_failed', ['read_only_field /id']);
      for (const name of ['version', 'createdAt', 'updatedAt']) {
        const response = await patch(path, [{ op: 'add', path: `/${name}`, value: 'x' }]);
        expect(issuesOf(response)).to.deep.equal([`read_only_field /${name}`]);
      }
      await expectUnchanged(path, fields);
    });

    it('validates the patched record', async () => {
      const { path, fields } = await collection.create();
      const required = Object.keys(fields);
      const removed = required.map((field) => ({ op: 'remove', path: `/${field}` }));
      const emptied = required.map((field) => ({ op: 'replace', path: `/${field}`, value: null }));
      const added = { op: 'add', path: '/a~1~0b', value: 1 };
      expect(issuesOf(await patch(path, [added, ...removed]))).to.deep.equal([
        ...required.map((field) => `required /${field}`),
        'unknown_field /a~1~0b',
      ]);
      expect(issuesOf(await patch(path, emptied))).to.deep.equal(required.map((field) => `invalid_type /${field}`));
      for (const value of [[], 'x', null])
        await expectIssues(patch(path, [{ op: 'replace', path: '', value }]), 'validation_failed', ['invalid_type ']);
      await expectUnchanged(path, fields);
    });

    it('is checked after 404 and 412, valid or not', async () => {
      const { path } = await collection.create();
      const stale = { headers: { 'If-Match': '"7"' } };
      for (const body of [[], {}, [{ op: 'spam' }], [{ op: 'test', path: '/id', value: 0 }]]) {
        expect((await patch(collection.missingPath, body, stale)).status).to.equal(404);
        expect((await patch(path, body, stale)).status).to.equal(412);
      }
      expect((await patch(collection.missingPath, '[')).status).to.equal(404);
      await expectRefusal(patch(path, '[{"op":"remove","op":"test","path":"/id"}]', stale), 'malformed_json');
    });
  });
}
