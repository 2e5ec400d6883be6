import { expect } from 'chai';
import type { Collection } from './collection.js';

const ifMatch = (tag: string) => ({ headers: { 'If-Match': tag } });
const ifNoneMatch = (tag: string) => ({ headers: { 'If-None-Match': tag } });

/** What proxies make of a strong tag when they compress: nginx, Apache, Jetty and others. */
export const ALTERED_TAGS: readonly ((tag: string) => string)[] = [
  (tag) => `W/${tag}`,
  ...['-gzip', ';gzip', '--gzip', '-br', ';br', '--br', '-deflate', ';zstd'].map(
    (suffix) => (tag: string) => tag.replace(/"$/, `${suffix}"`),
  ),
  (tag) => `W/${tag.replace(/"$/, '-gzip"')}`,
];

export function describeConditions(collection: Collection): void {
  describe('If-Match', () => {
    it('lets exactly one of 20 concurrent writers win, and sends the others the current ETag', async () => {
      const { path } = await collection.create();
      const responses = await Promise.all(
        Array.from({ length: 20 }, () => collection.client.put(path, collection.fields(), ifMatch('"1"'))),
      );
      const successes = responses.filter(({ status }) => status === 200);
      const failures = responses.filter(({ status }) => status === 412);
      expect([successes.length, failures.length]).to.deep.equal([1, 19]);
      for (const response of failures) {
        expect([response.json.code, response.headers.etag]).to.deep.equal(['precondition_failed', '"2"']);
      }
      expect((await collection.client.get(path)).text).to.equal(successes[0]?.text);
    });

    it('applies to PATCH and DELETE too', async () => {
      const { path } = await collection.create();
      const fields = collection.fields();
      expect((await collection.client.patch(path, fields, ifMatch('"2"'))).status).to.equal(412);
      expect((await collection.client.delete(path, ifMatch('"2"'))).status).to.equal(412);
      expect((await collection.client.patch(path, fields, ifMatch('"1"'))).status).to.equal(200);
      expect((await collection.client.delete(path, ifMatch('"1"'))).status).to.equal(412);
      expect((await collection.client.delete(path, ifMatch('"2"'))).status).to.equal(204);
    });

    it('accepts * and lists of ETags', async () => {
      const { path, fields } = await collection.create();
      for (const [tag, status] of [
        ['*', 200],
        ['"7" , "1"', 200],
        ['"7","8"', 412],
        ['"01"', 412],
        ['""', 412],
        ['"nonsense,with-a-comma"', 412],
      ] as const) {
        expect((await collection.client.put(path, fields, ifMatch(tag))).status, tag).to.equal(status);
      }
    });

    it('accepts an ETag that a compressing proxy has altered, with every method', async () => {
      const { client } = collection;
      for (const altered of ALTERED_TAGS) {
        const { path, fields } = await collection.create();
        const stale = { headers: { 'If-Match': altered('"7"') } };
        const current = (version: number) => ifMatch(altered(`"${version}"`));
        for (const write of [
          client.put(path, fields, stale),
          client.patch(path, fields, stale),
          client.delete(path, stale),
        ])
          expect((await write).status, altered('"7"')).to.equal(412);
        expect((await client.put(path, fields, current(1))).status, altered('"1"')).to.equal(200);
        const { etag } = (await client.get(path)).headers;
        expect((await client.patch(path, fields, ifMatch(altered(String(etag))))).status).to.equal(200);
        const many = `"7", ${altered(String((await client.get(path)).headers.etag))}`;
        expect((await client.delete(path, ifMatch(many))).status, many).to.equal(204);
      }
    });

    it('takes nothing else off an ETag', async () => {
      const { path, fields } = await collection.create();
      for (const tag of ['"1-"', '"1gzip"', '"1-gzip-"', '"1-zip"', '"1---gzip"', '"-gzip"', '"W/1"'])
        expect((await collection.client.put(path, fields, ifMatch(tag))).status, tag).to.equal(412);
    });

    it('is rejected if it is malformed', async () => {
      const { path, fields } = await collection.create();
      for (const tag of ['', ' ', ',', ' , ,', '1', "'1'", '"1', '"1" "2"', '*, "1"', 'w/"1"', '"1"-gzip']) {
        const response = await collection.client.put(path, fields, ifMatch(tag));
        expect([response.status, response.json.code], tag).to.deep.equal([400, 'invalid_parameter']);
        expect(response.json.details[0]).to.include({ code: 'invalid_format', in: 'header', name: 'If-Match' });
      }
    });

    it('gives 404 for a missing record', async () => {
      for (const [method, body] of [
        ['PUT', collection.fields()],
        ['PUT', {}],
        ['PATCH', {}],
        ['DELETE', undefined],
      ] as const) {
        const response = await collection.client.request(method, collection.missingPath, { body, ...ifMatch('"1"') });
        expect(response.status, method).to.equal(404);
      }
    });

    it('is checked before the body is validated', async () => {
      const { path } = await collection.create();
      await collection.client.put(path, collection.fields());
      for (const body of [{ ...collection.fields(), version: 1 }, {}, []]) {
        expect((await collection.client.put(path, body, ifMatch('"1"'))).status).to.equal(412);
      }
    });
  });

  describe('If-None-Match', () => {
    it('gives 304 if the client has the current version', async () => {
      const { path } = await collection.create();
      const altered = ALTERED_TAGS.map((alter) => alter('"1"'));
      for (const tag of ['"1"', ...altered, `"9", ${altered.at(-1)}`, '*']) {
        for (const method of ['GET', 'HEAD']) {
          const response = await collection.client.request(method, path, ifNoneMatch(tag));
          expect([response.status, response.text, response.headers.etag], tag).to.deep.equal([304, '', '"1"']);
          expect(response.headers['cache-control']).to.equal(collection.resource.cacheControl);
          expect(response.headers['vary']).to.include('Accept');
        }
      }
      expect((await collection.client.get(path, ifNoneMatch('"2"'))).status).to.equal(200);
    });

    it('is ignored by reads and rejected by writes if it is malformed', async () => {
      const { path } = await collection.create();
      for (const tag of ['1', 'abc', '', '*, "1"']) {
        expect((await collection.client.get(path, ifNoneMatch(tag))).status, tag).to.equal(200);
        const response = await collection.client.put(path, collection.fields(), ifNoneMatch(tag));
        expect([response.status, response.json.code], tag).to.deep.equal([400, 'invalid_parameter']);
        expect(response.json.details[0]).to.include({ in: 'header', name: 'If-None-Match' });
      }
    });

    it('prevents a write if it matches the current version', async () => {
      const { path } = await collection.create();
      expect((await collection.client.put(path, collection.fields(), ifNoneMatch('*'))).status).to.equal(412);
      for (const tag of ['"1"', ...ALTERED_TAGS.map((alter) => alter('"1"'))])
        expect((await collection.client.delete(path, ifNoneMatch(tag))).status, tag).to.equal(412);
      expect((await collection.client.delete(path, ifNoneMatch('"2"'))).status).to.equal(204);
    });
  });
}

/** Tests a service with REQUIRE_IF_MATCH. */
export function describeRequiredConditions(collection: Collection): void {
  it('rejects a write without If-Match with 428', async () => {
    const { path, fields } = await collection.create();
    for (const [method, body] of [
      ['PUT', fields],
      ['PATCH', {}],
      ['DELETE', undefined],
    ] as const) {
      const response = await collection.client.request(method, path, { body });
      expect([response.status, response.json.code], method).to.deep.equal([428, 'precondition_required']);
      const conditional = await collection.client.request(method, path, { body, ...ifMatch('*') });
      expect(conditional.status, method).to.be.within(200, 204);
    }
  });
}
