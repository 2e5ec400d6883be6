import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { HttpResponse } from '../../support/http-client.js';
import { type Collection, type Fields, MINIMAL } from './collection.js';

const withIdempotencyKey = (key: string, more: Record<string, string> = {}) => ({
  headers: { 'Idempotency-Key': key, ...more },
});

const replayed = ({ headers }: HttpResponse) => headers['idempotency-replayed'];

/** @returns the parts of a response that its replays share */
function replayable({ status, text, headers }: HttpResponse): unknown {
  const { location, etag, 'content-type': type, 'cache-control': cache } = headers;
  return { status, text, location, etag, type, cache };
}

export function describeIdempotency(collection: Collection): void {
  const post = (fields: Fields | string, key: string, more?: Record<string, string>) =>
    collection.client.post(collection.path, fields, withIdempotencyKey(key, more));
  const newestId = async () => (await collection.client.get(`${collection.path}?sort=-id&limit=1`)).json[0].id;

  describe('Idempotency-Key', () => {
    it('replays the first response, with Idempotency-Replayed', async () => {
      const [key, fields] = [randomUUID(), collection.fields()];
      const first = await post(fields, key);
      expect([first.status, replayed(first)]).to.deep.equal([201, undefined]);
      for (let i = 0; i < 3; i++) {
        const again = await post(fields, key);
        expect(replayed(again)).to.equal('true');
        expect(replayable(again)).to.deep.equal(replayable(first));
      }
      expect(await newestId()).to.equal(first.json.id);
    });

    it('replays even if the record was changed or deleted since', async () => {
      const [key, fields] = [randomUUID(), collection.fields()];
      const first = await post(fields, key);
      const path = `${collection.path}/${first.json.id}`;
      await collection.client.put(path, collection.fields());
      expect(replayable(await post(fields, key))).to.deep.equal(replayable(first));
      await collection.client.delete(path);
      const again = await post(fields, key);
      expect([replayable(again), replayed(again)]).to.deep.equal([replayable(first), 'true']);
      expect((await collection.client.get(path)).status).to.equal(404);
    });

    it('compares bodies by value, not by notation', async () => {
      const [key, fields] = [randomUUID(), collection.fields()];
      const first = await post(fields, key);
      const reversed = Object.fromEntries(Object.entries(fields).toReversed());
      const again = await post(` ${JSON.stringify(reversed, null, 2)}\n`, key);
      expect([replayable(again), replayed(again)]).to.deep.equal([replayable(first), 'true']);
    });

    it('is rejected with another body, valid or not, and creates nothing', async () => {
      const [key, fields] = [randomUUID(), collection.fields()];
      const { id } = (await post(fields, key)).json;
      for (const other of [collection.fields(), {}, { ...fields, id: 1 }, { ...fields, nonsense: 1 }]) {
        const response = await post(other, key);
        expect([response.status, response.json.code]).to.deep.equal([422, 'idempotency_key_reused']);
        expect(response.headers).to.not.have.any.keys('idempotency-replayed', 'location', 'etag');
        expect(response.json.details).to.deep.equal([]);
      }
      expect(await newestId()).to.equal(id);
      expect(replayed(await post(fields, key))).to.equal('true');
    });

    it('creates one record for 20 concurrent requests, with the same response for all', async () => {
      const [key, fields] = [randomUUID(), collection.fields()];
      const responses = await Promise.all(Array.from({ length: 20 }, () => post(fields, key)));
      expect(new Set(responses.map(({ text }) => text))).to.have.length(1);
      expect(responses.filter((response) => response.status === 201)).to.have.length(20);
      expect(responses.filter((response) => replayed(response) === undefined)).to.have.length(1);
      expect(await newestId()).to.equal(responses[0]?.json.id);
    });

    it('accepts one of 10 concurrent requests with different bodies', async () => {
      const key = randomUUID();
      const responses = await Promise.all(Array.from({ length: 10 }, () => post(collection.fields(), key)));
      const statuses = responses.map(({ status }) => status).toSorted();
      expect(statuses).to.deep.equal([201, ...Array.from({ length: 9 }, () => 422)]);
    });

    it('does not store a rejection: a corrected request succeeds', async () => {
      const key = randomUUID();
      const refused = await post({ ...collection.fields(), nonsense: 1 }, key);
      expect([refused.status, replayed(refused)]).to.deep.equal([400, undefined]);
      const fields = collection.fields();
      const created = await post(fields, key);
      expect([created.status, replayed(created)]).to.deep.equal([201, undefined]);
      expect(replayed(await post(fields, key))).to.equal('true');
    });

    it('respects the Prefer header of each request', async () => {
      const [key, fields] = [randomUUID(), collection.fields()];
      const first = await post(fields, key, MINIMAL.headers);
      expect([first.status, first.text]).to.deep.equal([201, '']);
      const again = await post(fields, key);
      expect([again.status, again.json, again.headers.location]).to.deep.equal([
        201,
        { id: again.json.id, ...fields },
        first.headers.location,
      ]);
    });

    it('is 1 to 255 printable ASCII characters, case-sensitive', async () => {
      const long = randomUUID().padEnd(255, '~');
      for (const key of [`"${randomUUID()}"`, `a b, ${randomUUID()}; c="d"`, long, long.toUpperCase()]) {
        const fields = collection.fields();
        expect(replayed(await post(fields, key)), key).to.equal(undefined);
        expect(replayed(await post(fields, key)), key).to.equal('true');
      }
    });

    it('is otherwise rejected before the body is read', async () => {
      for (const key of ['', 'x'.repeat(256), 'caf\u00e9', 'a\tb', '\u00a0']) {
        const response = await post('{', key);
        expect([response.status, response.json.code], key).to.deep.equal([400, 'invalid_idempotency_key']);
        expect(response.json.details).to.have.length(1);
        expect(response.json.details[0]).to.include({ in: 'header', name: 'Idempotency-Key' });
      }
    });

    it('is rejected if it is sent twice', async () => {
      const headers = { 'Idempotency-Key': ['a', 'a'] };
      const response = await collection.client.post(collection.path, collection.fields(), { headers });
      expect([response.status, response.json.code]).to.deep.equal([400, 'invalid_idempotency_key']);
    });

    it('is ignored by other methods', async () => {
      const { path, fields } = await collection.create();
      expect((await collection.client.put(path, fields, withIdempotencyKey(''))).status).to.equal(200);
      expect((await collection.client.get(path, withIdempotencyKey('x'.repeat(300)))).status).to.equal(200);
    });
  });
}
