import { expect } from 'chai';
import { runningService } from '../support/running-service.js';

describe('conditional requests', () => {
  const service = runningService();
  const ask = () => service.client;
  const created = async () => `/v1/products/${(await ask().post('/products', { name: 'Lamp' })).json.id}`;
  const ifMatch = (tag: string) => ({ headers: { 'If-Match': tag } });

  describe('If-Match', () => {
    it('lets exactly one of many racing writers win, and tells the others the tag that stands now', async () => {
      const item = await created();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => ask().put(item, { name: `racer ${i}` }, ifMatch('"1"'))),
      );
      const won = answers.filter(({ status }) => status === 200);
      const lost = answers.filter(({ status }) => status === 412);
      expect([won.length, lost.length]).to.deep.equal([1, 19]);
      for (const answer of lost) {
        expect([answer.json.code, answer.headers.etag]).to.deep.equal(['precondition_failed', '"2"']);
      }
      expect((await ask().get(item)).text).to.equal(won[0]?.text);
    });

    it('guards PATCH and DELETE alike', async () => {
      const item = await created();
      expect((await ask().patch(item, { name: 'x' }, ifMatch('"2"'))).status).to.equal(412);
      expect((await ask().delete(item, ifMatch('"2"'))).status).to.equal(412);
      expect((await ask().patch(item, { name: 'x' }, ifMatch('"1"'))).status).to.equal(200);
      expect((await ask().delete(item, ifMatch('"1"'))).status).to.equal(412);
      expect((await ask().delete(item, ifMatch('"2"'))).status).to.equal(204);
    });

    it('takes a star and lists of tags, and compares strongly', async () => {
      const item = await created();
      for (const [tag, status] of [
        ['*', 200],
        ['"7" , "1"', 200],
        ['"7","8"', 412],
        ['W/"1"', 412],
        ['"01"', 412],
        ['""', 412],
        ['"nonsense,with-a-comma"', 412],
      ] as const) {
        expect((await ask().put(item, { name: 'Lamp' }, ifMatch(tag))).status, tag).to.equal(status);
      }
    });

    it('is refused where it is no list of tags', async () => {
      const item = await created();
      for (const tag of ['', ' ', '1', "'1'", '"1', '"1" "2"', '*, "1"']) {
        const answer = await ask().put(item, { name: 'Lamp' }, ifMatch(tag));
        expect([answer.status, answer.json.code], tag).to.deep.equal([400, 'invalid_parameter']);
        expect(answer.json.details[0]).to.include({ code: 'invalid_format', in: 'header', name: 'If-Match' });
      }
    });

    it('is not asked of a record that is missing: 404', async () => {
      for (const [method, body] of [
        ['PUT', { name: 'x' }],
        ['PATCH', {}],
        ['DELETE', undefined],
      ] as const) {
        const answer = await ask().ask(method, '/products/9007199254740991', { body, ...ifMatch('"1"') });
        expect(answer.status, method).to.equal(404);
      }
    });

    it('is judged before what the body says of the version', async () => {
      const item = await created();
      await ask().put(item, { name: 'newer' });
      expect((await ask().put(item, { name: 'x', version: 1 }, ifMatch('"1"'))).status).to.equal(412);
    });
  });

  describe('If-None-Match', () => {
    it('answers 304 to who has the version already', async () => {
      const item = await created();
      for (const tag of ['"1"', 'W/"1"', '"9", "1"', '*']) {
        for (const method of ['GET', 'HEAD']) {
          const answer = await ask().ask(method, item, { headers: { 'If-None-Match': tag } });
          expect([answer.status, answer.text, answer.headers.etag], tag).to.deep.equal([304, '', '"1"']);
          expect(answer.headers['cache-control']).to.equal('private, no-cache');
          expect(answer.headers['vary']).to.equal('Accept');
        }
      }
      expect((await ask().get(item, { headers: { 'If-None-Match': '"2"' } })).status).to.equal(200);
    });

    it('stops a write where a version that it names stands', async () => {
      const item = await created();
      expect((await ask().put(item, { name: 'x' }, { headers: { 'If-None-Match': '*' } })).status).to.equal(
        412,
      );
      expect((await ask().delete(item, { headers: { 'If-None-Match': '"1"' } })).status).to.equal(412);
      expect((await ask().delete(item, { headers: { 'If-None-Match': '"2"' } })).status).to.equal(204);
    });
  });
});

describe('REQUIRE_IF_MATCH', () => {
  const service = runningService({ REQUIRE_IF_MATCH: 'true' });

  it('answers 428 to a write that does not say what it has seen', async () => {
    const { id } = (await service.client.post('/products', { name: 'Lamp' })).json;
    for (const [method, body] of [
      ['PUT', { name: 'x' }],
      ['PATCH', {}],
      ['DELETE', undefined],
    ] as const) {
      const answer = await service.client.ask(method, `/products/${id}`, { body });
      expect([answer.status, answer.json.code], method).to.deep.equal([428, 'precondition_required']);
      const guarded = await service.client.ask(method, `/products/${id}`, {
        body,
        headers: { 'If-Match': '*' },
      });
      expect(guarded.status, method).to.be.within(200, 204);
    }
  });
});
