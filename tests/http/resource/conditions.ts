import { expect } from 'chai';
import { expectRefusal } from '../../support/http-client.js';
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
    it('lets each kind of write change the version that it names alone', async () => {
      const { client } = collection;
      const { path } = await collection.create();
      const fields = collection.fields();
      for (const [method, body, tag, expected] of [
        ['PUT', collection.fields(), '"2"', [412, '"1"']],
        ['PUT', collection.fields(), '"1"', [200, '"2"']],
        ['PATCH', fields, '"1"', [412, '"2"']],
        ['PATCH', fields, '"2"', [200, '"3"']],
        ['DELETE', undefined, '"2"', [412, '"3"']],
        ['DELETE', undefined, '"3"', [204, undefined]],
      ] as const) {
        const response = await client.request(method, path, { body, ...ifMatch(tag) });
        expect([response.status, response.headers.etag], `${method} ${tag}`).to.deep.equal(expected);
        if (response.status === 412) expect(response.json.code).to.equal('precondition_failed');
      }
    });

    it('accepts *, lists of ETags, and one that a compressing proxy has altered, and takes nothing else off', async () => {
      const { path, fields } = await collection.create();
      const altered = ALTERED_TAGS.flatMap((alter) => [
        [alter('"1"'), 200] as const,
        [`"7", ${alter('"1"')}`, 200] as const,
        [alter('"7"'), 412] as const,
      ]);
      const others = ['"1-"', '"1gzip"', '"1-gzip-"', '"1-zip"', '"1---gzip"', '"-gzip"', '"W/1"', '"01"', '""'];
      for (const [tag, status] of [
        ['*', 200],
        ['"7" , "1"', 200],
        ['"7","8"', 412],
        ['"nonsense,with-a-comma"', 412],
        ...altered,
        ...others.map((one) => [one, 412] as const),
      ] as const)
        expect((await collection.client.put(path, fields, ifMatch(tag))).status, tag).to.equal(status);
    });

    it('is rejected if it is malformed', async () => {
      const { path, fields } = await collection.create();
      for (const tag of ['', ' ', ',', ' , ,', '1', "'1'", '"1', '"1" "2"', '*, "1"', 'w/"1"', '"1"-gzip']) {
        const attempt = collection.client.put(path, fields, ifMatch(tag));
        const response = await expectRefusal(attempt, 'invalid_parameter', tag);
        expect(response.json.details[0]).to.include({ code: 'invalid_format', in: 'header', name: 'If-Match' });
      }
    });

    it('is checked after 404, and before the body is validated', async () => {
      const { path } = await collection.create();
      const { client, missingPath } = collection;
      for (const body of [{ ...collection.fields(), version: 7 }, {}, []]) {
        expect((await client.put(path, body, ifMatch('"7"'))).status).to.equal(412);
        expect((await client.put(missingPath, body, ifMatch('"7"'))).status).to.equal(404);
      }
      expect((await client.delete(missingPath, ifMatch('"7"'))).status).to.equal(404);
    });
  });

  describe('If-None-Match', () => {
    it('gives 304 if the client has the current version', async () => {
      const { path } = await collection.create();
      const altered = ALTERED_TAGS.map((alter) => alter('"1"'));
      for (const tag of ['"1"', ...altered, `"9", ${altered.at(-1)}`, '*'])
        for (const method of ['GET', 'HEAD']) {
          const response = await collection.client.request(method, path, ifNoneMatch(tag));
          expect([response.status, response.text, response.headers.etag], tag).to.deep.equal([304, '', '"1"']);
          expect(response.headers['cache-control']).to.equal(collection.resource.cacheControl);
          expect(response.headers['vary']).to.include('Accept');
        }
      expect((await collection.client.get(path, ifNoneMatch('"2"'))).status).to.equal(200);
    });

    it('is ignored by reads and rejected by writes if it is malformed', async () => {
      const { path } = await collection.create();
      for (const tag of ['1', 'abc', '', '*, "1"']) {
        expect((await collection.client.get(path, ifNoneMatch(tag))).status, tag).to.equal(200);
        const attempt = collection.client.put(path, collection.fields(), ifNoneMatch(tag));
        const response = await expectRefusal(attempt, 'invalid_parameter', tag);
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
    for (const [method, body] of Object.entries({ PUT: fields, PATCH: {}, DELETE: undefined })) {
      await expectRefusal(collection.client.request(method, path, { body }), 'precondition_required', method);
      const conditional = await collection.client.request(method, path, { body, ...ifMatch('*') });
      expect(conditional.status, method).to.be.within(200, 204);
    }
  });
}

/** One case of the conditions and of the keys that are the same code for all resources. */
export function describeWiring(collection: Collection): void {
  it('refuses an outdated If-Match, shortens a read by If-None-Match, and creates once by an Idempotency-Key', async () => {
    const { client, path: list } = collection;
    const { path, fields } = await collection.create();
    const stale = { headers: { 'If-Match': '"9"' } };
    for (const response of [
      client.put(path, fields, stale),
      client.patch(path, fields, stale),
      client.delete(path, stale),
    ])
      expect([(await response).status, (await response).headers.etag]).to.deep.equal([412, '"1"']);
    const read = await client.get(path, { headers: { 'If-None-Match': '"1"' } });
    expect([read.status, read.text]).to.deep.equal([304, '']);

    const once = { headers: { 'Idempotency-Key': 'once' } };
    const body = collection.fields();
    const [first, again] = [await client.post(list, body, once), await client.post(list, body, once)];
    expect([first.status, again.text, again.headers['idempotency-replayed']]).to.deep.equal([201, first.text, 'true']);
    expect((await client.post(list, collection.fields(), once)).status).to.equal(422);
  });
}
