import { expect } from 'chai';
import { expectRefusal, issuesOf } from '../../support/http-client.js';
import { type Collection, MINIMAL, stableHeaders } from './collection.js';

export function describePost(collection: Collection): void {
  const { client, path: base } = collection;
  const { plural } = collection.resource;

  describe('POST', () => {
    it('creates a record, and returns its id and the fields that have a value', async () => {
      const fields = collection.fields();
      const { status, text, json, headers } = await client.post(base, fields);
      expect([status, text]).to.deep.equal([201, JSON.stringify({ id: json.id, ...fields })]);
      expect(headers).to.include({ location: `/v1/${plural}/${json.id}`, etag: '"1"', 'cache-control': 'no-store' });
      expect(headers).to.include({ 'content-type': 'application/json', 'api-version': '1' });
    });

    it('stores every field of the example unchanged', async () => {
      const { example } = collection.definition;
      const { json } = await client.post(base, example);
      expect(json).to.deep.equal({ id: json.id, ...example });
      await client.delete(`${base}/${json.id}`);
    });

    // request-headers.test.ts has the other preferences.
    it('omits the body with Prefer: return=minimal', async () => {
      const { status, text, headers } = await client.post(base, collection.fields(), MINIMAL);
      expect([status, text]).to.deep.equal([201, '']);
      expect(headers).to.include({ 'preference-applied': 'return=minimal', etag: '"1"' });
      expect(headers).to.not.have.property('content-type');
      expect(headers.location).to.match(new RegExp(`^/v1/${plural}/\\d+$`));
    });

    it('rejects read-only fields, and creates nothing from a rejected body', async () => {
      const { text: before } = await client.get(`${base}?limit=1000`);
      const readOnly = { id: 1, version: 1, createdAt: 'x', updatedAt: 'x' };
      const refused = await client.post(base, { ...readOnly, ...collection.fields() });
      expect(issuesOf(refused)).to.deep.equal(readOnlyIssues(readOnly));
      for (const options of [{}, MINIMAL])
        await expectRefusal(client.post(base, { ...collection.fields(), colour: 'red' }, options), 'validation_failed');
      expect((await client.get(`${base}?limit=1000`)).text).to.equal(before);
    });
  });
}

export function describeGet(collection: Collection): void {
  const { client, path: base, missingPath } = collection;
  const { cacheControl } = collection.resource;

  describe('GET', () => {
    it('returns the record with its version as a strong ETag, and in the list', async () => {
      const { id, path, fields } = await collection.create();
      const { status, text, headers } = await client.get(path);
      expect([status, text]).to.deep.equal([200, JSON.stringify({ id, ...fields })]);
      expect(headers).to.include({ etag: '"1"', 'content-type': 'application/json', 'api-version': '1' });
      expect(headers).to.include({ 'cache-control': cacheControl, vary: 'Accept' });
      const list = await client.get(`${base}?sort=-id&limit=1000`);
      expect([list.status, list.json.at(0)]).to.deep.equal([200, { id, ...fields }]);
      expect(list.headers['cache-control']).to.equal(cacheControl);
    });

    it('returns a version as soon as it is acknowledged, also to a client that knows the one before', async () => {
      const { path } = await collection.create();
      for (const version of [2, 3]) {
        await client.get(path);
        await client.put(path, collection.fields());
        expect((await client.get(path)).headers.etag).to.equal(`"${version}"`);
      }
    });

    it('returns the same headers and no body for HEAD', async () => {
      const { path } = await collection.create();
      for (const url of [path, base]) {
        const [got, head] = [await client.get(url), await client.request('HEAD', url)];
        expect([head.status, head.text]).to.deep.equal([200, '']);
        expect(stableHeaders(head)).to.deep.equal(stableHeaders(got));
      }
    });

    it('returns 404 for an id that never existed, and rejects an unknown parameter', async () => {
      const { json, headers } = await expectRefusal(client.get(missingPath), 'not_found');
      expect([json.details, headers['cache-control']]).to.deep.equal([[], 'no-store']);
      const { path } = await collection.create();
      await expectRefusal(client.get(`${path}?colour=red`), 'unknown_parameter');
    });
  });
}

export function describePut(collection: Collection): void {
  const { client, missingPath } = collection;

  describe('PUT', () => {
    it('replaces all fields', async () => {
      const { id, path } = await collection.create();
      const fields = collection.fields();
      const { status, text, headers } = await client.put(path, fields);
      expect([status, text]).to.deep.equal([200, JSON.stringify({ id, ...fields })]);
      expect(headers).to.include({ etag: '"2"', 'cache-control': 'no-store' });
      expect((await client.get(path)).text).to.equal(text);
    });

    it('never creates a record', async () => {
      expect((await client.put(missingPath, collection.fields())).status).to.equal(404);
      expect((await client.get(missingPath)).status).to.equal(404);
    });

    it('accepts the response of GET, with unchanged id and metadata, and rejects changed ones', async () => {
      const { id, path, fields } = await collection.create();
      const stale = { id: id + 1, version: 2, createdAt: 'then', updatedAt: 'then' };
      expect(issuesOf(await client.put(path, { ...fields, ...stale }))).to.deep.equal(readOnlyIssues(stale));
      const { json } = await client.get(path);
      const { status, headers } = await client.put(path, { ...json, ...collection.fields(), version: 1 });
      expect([status, headers.etag]).to.deep.equal([200, '"2"']);
    });

    it('keeps the version if nothing changes, in any order of the fields', async () => {
      const { path, fields } = await collection.create();
      const same = Object.fromEntries(Object.entries(fields).toReversed());
      const { status, headers } = await client.put(path, same);
      expect([status, headers.etag]).to.deep.equal([200, '"1"']);
    });

    it('returns 204 with Prefer: return=minimal', async () => {
      const { path } = await collection.create();
      const { status, text, headers } = await client.put(path, collection.fields(), MINIMAL);
      expect([status, text, headers.etag]).to.deep.equal([204, '', '"2"']);
      expect(headers['preference-applied']).to.equal('return=minimal');
    });
  });
}

export function describePatch(collection: Collection): void {
  const { client, missingPath } = collection;

  describe('PATCH', () => {
    for (const type of ['application/json', 'application/merge-patch+json', 'Application/JSON; Charset="UTF-8"'])
      it(`merges fields sent as ${type}`, async () => {
        const { id, path, fields } = await collection.create();
        const others = Object.entries(collection.fields());
        for (const [at, other] of others.entries()) {
          const options = { headers: { 'Content-Type': type } };
          const { status, json, text, headers } = await client.patch(path, Object.fromEntries([other]), options);
          expect([status, headers['cache-control']], text).to.deep.equal([200, 'no-store']);
          expect(json).to.deep.equal({ ...fields, ...Object.fromEntries(others.slice(0, at + 1)), id });
        }
        expect((await client.get(path)).json).to.deep.equal({ id, ...Object.fromEntries(others) });
      });

    it('keeps the version if nothing changes', async () => {
      const { id, path, fields } = await collection.create();
      for (const patch of [{}, fields, { id }, { version: 1 }, { colour: null }]) {
        const { status, json, headers } = await client.patch(path, patch);
        expect([status, headers.etag, json], JSON.stringify(patch)).to.deep.equal([200, '"1"', { id, ...fields }]);
      }
    });

    it('rejects changes to read-only fields', async () => {
      const { path } = await collection.create();
      const readOnly = { id: null, version: 0, createdAt: 'then', updatedAt: {} };
      expect(issuesOf(await client.patch(path, readOnly))).to.deep.equal(readOnlyIssues(readOnly));
    });

    it('returns 204 with Prefer: return=minimal, and 404 for a missing record', async () => {
      const { path } = await collection.create();
      const { status, text, headers } = await client.patch(path, collection.fields(), MINIMAL);
      expect([status, text, headers.etag]).to.deep.equal([204, '', '"2"']);
      expect((await client.patch(missingPath, {})).status).to.equal(404);
    });
  });
}

export function describeDelete(collection: Collection): void {
  const { client } = collection;

  describe('DELETE', () => {
    it('returns 204 without a body', async () => {
      const { path } = await collection.create();
      const { status, text, headers } = await client.delete(path);
      expect([status, text, headers['cache-control']]).to.deep.equal([204, '', 'no-store']);
      expect(headers).to.not.have.property('content-type');
    });

    it('makes later requests 404, even if they are otherwise invalid', async () => {
      const { path } = await collection.create();
      await client.delete(path);
      for (const [method, options] of [
        ['PUT', { body: '{' }],
        ['PUT', { body: collection.fields() }],
        ['PATCH', { body: '{}', headers: { 'Content-Type': 'text/plain' } }],
        ['GET', { headers: { Accept: 'text/html' } }],
        ['DELETE', { headers: { 'If-Match': 'nonsense' } }],
      ] as const)
        for (const url of [`${path}?x=1`, path])
          expect((await client.request(method, url, options)).status, `${method} ${url}`).to.equal(404);
    });

    it('frees unique values, but never the id', async () => {
      const { id, path, fields } = await collection.create();
      await client.delete(path);
      expect((await collection.create(fields)).id).to.be.greaterThan(id);
      expect((await client.get(path)).status).to.equal(404);
    });
  });
}

const readOnlyIssues = (fields: object) => Object.keys(fields).map((field) => `read_only_field /${field}`);
