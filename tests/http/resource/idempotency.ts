import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectRefusal, type HttpResponse } from '../../support/http-client.js';
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
    it('replays the first response, with Idempotency-Replayed, also after the record is changed or deleted', async () => {
      const [key, fields] = [randomUUID(), collection.fields()];
      const first = await post(fields, key);
      expect([first.status, replayed(first)]).to.deep.equal([201, undefined]);
      const path = `${collection.path}/${first.json.id}`;
      for (const change of [
        () => collection.client.get(path),
        () => collection.client.put(path, collection.fields()),
        () => collection.client.delete(path),
      ]) {
        expect((await change()).status).to.be.within(200, 204);
        const again = await post(fields, key);
        expect([replayable(again), replayed(again)]).to.deep.equal([replayable(first), 'true']);
      }
      expect((await collection.client.get(path)).status).to.equal(404);
    });

    it('is rejected with another body, valid or not, and creates nothing', async () => {
      const [key, fields] = [randomUUID(), collection.fields()];
      const { id } = (await post(fields, key)).json;
      for (const other of [collection.fields(), {}, { ...fields, id: 1 }, { ...fields, nonsense: 1 }]) {
        const response = await expectRefusal(post(other, key), 'idempotency_key_reused');
        expect(response.headers).to.not.have.any.keys('idempotency-replayed', 'location', 'etag');
        expect(response.json.details).to.deep.equal([]);
      }
      expect(await newestId()).to.equal(id);
      expect(replayed(await post(fields, key))).to.equal('true');
    });

    it('respects the Prefer header of each request', async () => {
      const [key, fields] = [randomUUID(), collection.fields()];
      const first = await post(fields, key, MINIMAL.headers);
      expect([first.status, first.text]).to.deep.equal([201, '']);
      const again = await post(fields, key);
      expect([again.status, again.headers.location]).to.deep.equal([201, first.headers.location]);
      expect(again.json).to.deep.equal({ id: again.json.id, ...fields });
    });

    // request-headers.test.ts has the keys that are refused.
    it('is validated before the body is read, and ignored by other methods', async () => {
      const response = await expectRefusal(post('{', ''), 'invalid_idempotency_key');
      expect(response.json.details).to.have.length(1);
      expect(response.json.details[0]).to.include({ in: 'header', name: 'Idempotency-Key' });
      const { path, fields } = await collection.create();
      expect((await collection.client.put(path, fields, withIdempotencyKey(''))).status).to.equal(200);
      expect((await collection.client.get(path, withIdempotencyKey('x'.repeat(300)))).status).to.equal(200);
    });
  });
}
