import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { HttpResponse } from '../../support/http-client.js';
import { type Collection, type Fields, MINIMAL } from './collection.js';

const keyed = (key: string, more: Record<string, string> = {}) => ({
  headers: { 'Idempotency-Key': key, ...more },
});

const replayed = ({ headers }: HttpResponse) => headers['idempotency-replayed'];

/** The headers of an answer that a repetition of it has too. */
function promised({ status, text, headers }: HttpResponse): unknown {
  const { location, etag, 'content-type': type, 'cache-control': cache } = headers;
  return { status, text, location, etag, type, cache };
}

export function idempotency(all: Collection): void {
  const post = (fields: Fields | string, key: string, more?: Record<string, string>) =>
    all.client.post(all.path, fields, keyed(key, more));
  const newest = async () => (await all.client.get(`${all.path}?sort=-id&limit=1`)).json[0].id;

  describe('Idempotency-Key', () => {
    it('gives the first answer again, and says so', async () => {
      const [key, fields] = [randomUUID(), all.fields()];
      const first = await post(fields, key);
      expect([first.status, replayed(first)]).to.deep.equal([201, undefined]);
      for (let i = 0; i < 3; i++) {
        const again = await post(fields, key);
        expect(replayed(again)).to.equal('true');
        expect(promised(again)).to.deep.equal(promised(first));
      }
      expect(await newest()).to.equal(first.json.id);
    });

    it('gives it also when the record was changed or deleted since', async () => {
      const [key, fields] = [randomUUID(), all.fields()];
      const first = await post(fields, key);
      const path = `${all.path}/${first.json.id}`;
      await all.client.put(path, all.fields());
      expect(promised(await post(fields, key))).to.deep.equal(promised(first));
      await all.client.delete(path);
      const again = await post(fields, key);
      expect([promised(again), replayed(again)]).to.deep.equal([promised(first), 'true']);
      expect((await all.client.get(path)).status).to.equal(404);
    });

    it('tells bodies apart by their value, not by how they are written', async () => {
      const [key, fields] = [randomUUID(), all.fields()];
      const first = await post(fields, key);
      const reversed = Object.fromEntries(Object.entries(fields).toReversed());
      const again = await post(` ${JSON.stringify(reversed, null, 2)}\n`, key);
      expect([promised(again), replayed(again)]).to.deep.equal([promised(first), 'true']);
    });

    it('is refused for another body, whatever is wrong with that one, and makes nothing', async () => {
      const [key, fields] = [randomUUID(), all.fields()];
      const { id } = (await post(fields, key)).json;
      for (const other of [all.fields(), {}, { ...fields, id: 1 }, { ...fields, nonsense: 1 }]) {
        const response = await post(other, key);
        expect([response.status, response.json.code]).to.deep.equal([422, 'idempotency_key_reused']);
        expect(response.headers).to.not.have.any.keys('idempotency-replayed', 'location', 'etag');
        expect(response.json.details).to.deep.equal([]);
      }
      expect(await newest()).to.equal(id);
      expect(replayed(await post(fields, key))).to.equal('true');
    });

    it('makes one record of many requests at once, and tells all of it alike', async () => {
      const [key, fields] = [randomUUID(), all.fields()];
      const responses = await Promise.all(Array.from({ length: 20 }, () => post(fields, key)));
      expect(new Set(responses.map(({ text }) => text))).to.have.length(1);
      expect(responses.filter((response) => response.status === 201)).to.have.length(20);
      expect(responses.filter((response) => replayed(response) === undefined)).to.have.length(1);
      expect(await newest()).to.equal(responses[0]?.json.id);
    });

    it('lets one of many different bodies have the key', async () => {
      const key = randomUUID();
      const responses = await Promise.all(Array.from({ length: 10 }, () => post(all.fields(), key)));
      const statuses = responses.map(({ status }) => status).toSorted();
      expect(statuses).to.deep.equal([201, ...Array.from({ length: 9 }, () => 422)]);
    });

    it('keeps no refusal: what is right the next time is made', async () => {
      const key = randomUUID();
      const refused = await post({ ...all.fields(), nonsense: 1 }, key);
      expect([refused.status, replayed(refused)]).to.deep.equal([400, undefined]);
      const fields = all.fields();
      const made = await post(fields, key);
      expect([made.status, replayed(made)]).to.deep.equal([201, undefined]);
      expect(replayed(await post(fields, key))).to.equal('true');
    });

    it('leaves the preferences of each request as they are', async () => {
      const [key, fields] = [randomUUID(), all.fields()];
      const first = await post(fields, key, MINIMAL.headers);
      expect([first.status, first.text]).to.deep.equal([201, '']);
      const again = await post(fields, key);
      expect([again.status, again.json, again.headers.location]).to.deep.equal([
        201,
        { id: again.json.id, ...fields },
        first.headers.location,
      ]);
    });

    it('is any printable ASCII from 1 to 255 characters, heeding case', async () => {
      const long = randomUUID().padEnd(255, '~');
      for (const key of [`"${randomUUID()}"`, `a b, ${randomUUID()}; c="d"`, long, long.toUpperCase()]) {
        const fields = all.fields();
        expect(replayed(await post(fields, key)), key).to.equal(undefined);
        expect(replayed(await post(fields, key)), key).to.equal('true');
      }
    });

    it('is refused otherwise, before the body is looked at', async () => {
      for (const key of ['', 'x'.repeat(256), 'caf\u00e9', 'a\tb', '\u00a0']) {
        const response = await post('{', key);
        expect([response.status, response.json.code], key).to.deep.equal([400, 'invalid_idempotency_key']);
        expect(response.json.details).to.have.length(1);
        expect(response.json.details[0]).to.include({ in: 'header', name: 'Idempotency-Key' });
      }
    });

    it('is refused where it is sent twice', async () => {
      const headers = { 'Idempotency-Key': ['a', 'a'] };
      const response = await all.client.post(all.path, all.fields(), { headers });
      expect([response.status, response.json.code]).to.deep.equal([400, 'invalid_idempotency_key']);
    });

    it('means nothing to other methods', async () => {
      const { path, fields } = await all.created();
      expect((await all.client.put(path, fields, keyed(''))).status).to.equal(200);
      expect((await all.client.get(path, keyed('x'.repeat(300)))).status).to.equal(200);
    });
  });
}
