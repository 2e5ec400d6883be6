import { expect } from 'chai';
import type { Collection } from './collection.js';

const ifMatch = (tag: string) => ({ headers: { 'If-Match': tag } });
const ifNoneMatch = (tag: string) => ({ headers: { 'If-None-Match': tag } });

export function conditions(all: Collection): void {
  describe('If-Match', () => {
    it('lets exactly one of many racing writers win, and tells the others the tag that stands now', async () => {
      const { path } = await all.created();
      const responses = await Promise.all(
        Array.from({ length: 20 }, () => all.client.put(path, all.fields(), ifMatch('"1"'))),
      );
      const won = responses.filter(({ status }) => status === 200);
      const lost = responses.filter(({ status }) => status === 412);
      expect([won.length, lost.length]).to.deep.equal([1, 19]);
      for (const response of lost) {
        expect([response.json.code, response.headers.etag]).to.deep.equal(['precondition_failed', '"2"']);
      }
      expect((await all.client.get(path)).text).to.equal(won[0]?.text);
    });

    it('guards PATCH and DELETE alike', async () => {
      const { path } = await all.created();
      const fields = all.fields();
      expect((await all.client.patch(path, fields, ifMatch('"2"'))).status).to.equal(412);
      expect((await all.client.delete(path, ifMatch('"2"'))).status).to.equal(412);
      expect((await all.client.patch(path, fields, ifMatch('"1"'))).status).to.equal(200);
      expect((await all.client.delete(path, ifMatch('"1"'))).status).to.equal(412);
      expect((await all.client.delete(path, ifMatch('"2"'))).status).to.equal(204);
    });

    it('takes a star and lists of tags, and compares strongly', async () => {
      const { path, fields } = await all.created();
      for (const [tag, status] of [
        ['*', 200],
        ['"7" , "1"', 200],
        ['"7","8"', 412],
        ['W/"1"', 412],
        ['"01"', 412],
        ['""', 412],
        ['"nonsense,with-a-comma"', 412],
      ] as const) {
        expect((await all.client.put(path, fields, ifMatch(tag))).status, tag).to.equal(status);
      }
    });

    it('is refused where it is no list of tags', async () => {
      const { path, fields } = await all.created();
      for (const tag of ['', ' ', ',', ' , ,', '1', "'1'", '"1', '"1" "2"', '*, "1"']) {
        const response = await all.client.put(path, fields, ifMatch(tag));
        expect([response.status, response.json.code], tag).to.deep.equal([400, 'invalid_parameter']);
        expect(response.json.details[0]).to.include({
          code: 'invalid_format',
          in: 'header',
          name: 'If-Match',
        });
      }
    });

    it('is not asked of a record that is missing: 404', async () => {
      for (const [method, body] of [
        ['PUT', all.fields()],
        ['PUT', {}],
        ['PATCH', {}],
        ['DELETE', undefined],
      ] as const) {
        const response = await all.client.request(method, all.nowhere, { body, ...ifMatch('"1"') });
        expect(response.status, method).to.equal(404);
      }
    });

    it('is judged before the fields, and before what the body says of the version', async () => {
      const { path } = await all.created();
      await all.client.put(path, all.fields());
      for (const body of [{ ...all.fields(), version: 1 }, {}, []]) {
        expect((await all.client.put(path, body, ifMatch('"1"'))).status).to.equal(412);
      }
    });
  });

  describe('If-None-Match', () => {
    it('answers 304 to who has the version already', async () => {
      const { path } = await all.created();
      for (const tag of ['"1"', 'W/"1"', '"9", "1"', '*']) {
        for (const method of ['GET', 'HEAD']) {
          const response = await all.client.request(method, path, ifNoneMatch(tag));
          expect([response.status, response.text, response.headers.etag], tag).to.deep.equal([
            304,
            '',
            '"1"',
          ]);
          expect(response.headers['cache-control']).to.equal(all.resource.cacheControl);
          expect(response.headers['vary']).to.include('Accept');
        }
      }
      expect((await all.client.get(path, ifNoneMatch('"2"'))).status).to.equal(200);
    });

    it('that cannot be read is as none to a read, and refused of a write', async () => {
      const { path } = await all.created();
      for (const tag of ['1', 'abc', '', '*, "1"']) {
        expect((await all.client.get(path, ifNoneMatch(tag))).status, tag).to.equal(200);
        const response = await all.client.put(path, all.fields(), ifNoneMatch(tag));
        expect([response.status, response.json.code], tag).to.deep.equal([400, 'invalid_parameter']);
        expect(response.json.details[0]).to.include({ in: 'header', name: 'If-None-Match' });
      }
    });

    it('stops a write where a version that it names stands', async () => {
      const { path } = await all.created();
      expect((await all.client.put(path, all.fields(), ifNoneMatch('*'))).status).to.equal(412);
      expect((await all.client.delete(path, ifNoneMatch('"1"'))).status).to.equal(412);
      expect((await all.client.delete(path, ifNoneMatch('"2"'))).status).to.equal(204);
    });
  });
}

/** In a service that asks for If-Match. */
export function requiredConditions(all: Collection): void {
  it('answers 428 to a write that does not say what it has seen', async () => {
    const { path, fields } = await all.created();
    for (const [method, body] of [
      ['PUT', fields],
      ['PATCH', {}],
      ['DELETE', undefined],
    ] as const) {
      const response = await all.client.request(method, path, { body });
      expect([response.status, response.json.code], method).to.deep.equal([428, 'precondition_required']);
      const guarded = await all.client.request(method, path, { body, ...ifMatch('*') });
      expect(guarded.status, method).to.be.within(200, 204);
    }
  });
}
