import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectRefusal } from '../../support/http-client.js';
import { NDJSON, ndjson, outcomes, resultsOf } from '../../support/imports.js';
import type { Collection } from './collection.js';

export function describeImport(collection: Collection): void {
  const imports = `${collection.path}/imports`;
  const send = (body: string | Buffer, headers: Record<string, string> = {}) =>
    collection.client.post(imports, body, { headers: { ...NDJSON, ...headers } });
  const sendAll = async (lines: readonly unknown[], headers: Record<string, string> = {}) =>
    resultsOf(await send(ndjson(lines), headers));
  const many = (count: number) => Array.from({ length: count }, () => collection.fields());
  const newestId = async () => (await collection.client.get(`${collection.path}?sort=-id&limit=1`)).json[0]?.id ?? 0;

  describe('an import', () => {
    it('creates a record for each line and returns a result for each, in order', async () => {
      const records = many(600);
      const response = await send(ndjson(records));
      expect(response.headers).to.include({ 'content-type': 'application/x-ndjson' });
      expect(response.headers).to.include({ 'cache-control': 'no-store', 'api-version': '1' });
      const results = resultsOf(response);
      const ids = results.map(({ id }) => id);
      expect(results).to.deep.equal(ids.map((id, at) => ({ line: at + 1, status: 201, id })));
      expect(ids).to.deep.equal([...new Set(ids)].toSorted((a, b) => a - b));
      for (const at of [0, 1, 299, 599]) {
        const { json, headers } = await collection.client.get(`${collection.path}/${ids[at]}`);
        expect([json, headers.etag]).to.deep.equal([{ id: ids[at], ...records[at] }, '"1"']);
      }
    });

    it('reports the same error for a line as for its POST, and continues', async () => {
      const invalid = [
        '{"name"',
        '"x"',
        'null',
        '{}',
        JSON.stringify({ ...collection.fields(), id: 1, nonsense: 1 }),
        '{"a":1,"a":2}',
        '{"__proto__":1}',
        `${'['.repeat(30)}${']'.repeat(30)}`,
        '\ufeff{}',
      ];
      const results = await sendAll(invalid.flatMap((line) => [line, collection.fields()]));
      expect(results).to.have.length(2 * invalid.length);
      for (const [at, line] of invalid.entries()) {
        const { status, json } = await collection.client.post(collection.path, line);
        expect(results[2 * at], line).to.deep.equal({ line: 2 * at + 1, status, error: json });
        expect(results[2 * at + 1], line).to.include({ line: 2 * at + 2, status: 201 });
      }
    });

    it('skips a byte order mark and blank lines, accepts LF and CRLF, and needs no final line end', async () => {
      const [one, two, three] = many(3).map((fields) => JSON.stringify(fields));
      const results = resultsOf(await send(`\ufeff\n${one}\r\n \t\r\n\n ${two}\n\ufeff{}\n${three}`));
      expect(results.map(({ line }) => line)).to.deep.equal([1, 2, 3, 4]);
      expect(outcomes(results)).to.deep.equal([201, 201, [400, 'malformed_json'], 201]);
      expect(outcomes(resultsOf(await send(`\ufeff${JSON.stringify(collection.fields())}`)))).to.deep.equal([201]);
    });

    it('asks whether line ends are missing where records follow one another in a line', async () => {
      const [one, two] = many(2).map((fields) => JSON.stringify(fields));
      const results = await sendAll([`${one}${two}`, `${one} ${two}`, '{}'.repeat(20_000), '{"name": }']);
      expect(results.map(({ error }) => error.message.includes('Are line ends missing?'))).to.deep.equal([
        ...[true, true, true, false],
      ]);
    });

    it('rejects only the line that is not UTF-8', async () => {
      const [one, two] = many(2).map((fields) => JSON.stringify(fields));
      const body = Buffer.concat([`${one}\n{"name":"`, Buffer.from([0xc3, 0x28]), `"}\n${two}\n`].map(Buffer.from));
      expect(outcomes(resultsOf(await send(body)))).to.deep.equal([201, [400, 'malformed_json'], 201]);
    });

    it('may be empty', async () => {
      for (const chunked of [false, true]) {
        const response = await collection.client.post(imports, '', { headers: NDJSON, chunked });
        expect([response.status, response.text]).to.deep.equal([200, '']);
        expect(response.headers['content-type']).to.equal('application/x-ndjson');
      }
    });

    it('takes its own media types alone, in UTF-8 and without a coding, even for an empty body', async () => {
      const last = await newestId();
      for (const headers of [
        { 'Content-Type': 'application/x-ndjson; charset=latin1' },
        { 'Content-Encoding': 'gzip' },
        { 'Content-Type': 'application/ndjson' },
        { 'Content-Type': 'application/json' },
        { 'Content-Type': '' },
      ] as Record<string, string>[])
        for (const body of [ndjson(many(1)), '']) {
          const response = await expectRefusal(send(body, headers), 'unsupported_media_type');
          expect(response.json.message).to.equal(
            'Send the body as application/x-ndjson or text/csv in UTF-8, without a content coding.',
          );
        }
      expect(await newestId()).to.equal(last);
      const type = 'Application/X-NDJSON ; charset="UTF-8"';
      expect(outcomes(await sendAll(many(1), { 'Content-Type': type }))).to.deep.equal([201]);
    });

    it('is accepted if the client accepts NDJSON or JSON', async () => {
      for (const Accept of ['application/x-ndjson', 'application/json', 'application/*', '*/*'])
        expect(outcomes(await sendAll(many(1), { Accept })), Accept).to.deep.equal([201]);
      await expectRefusal(send(ndjson(many(1)), { Accept: 'text/html' }), 'not_acceptable');
    });

    it('is not taken by the collection, which names the right path after the version is checked', async () => {
      const last = await newestId();
      for (const [body, headers, query, code] of [
        [ndjson(many(1)), { ...NDJSON, Accept: 'application/x-ndjson' }, '', 'unsupported_media_type'],
        ['', NDJSON, '?limit=1', 'unsupported_media_type'],
        ['', { ...NDJSON, 'API-Version': '99' }, '', 'unsupported_version'],
      ] as const) {
        const { json } = await collection.client.post(`${collection.path}${query}`, body, { headers });
        expect(json.code).to.equal(code);
        if (code === 'unsupported_media_type')
          expect(json.message).to.equal(
            `Send the body as application/json in UTF-8, without a content coding. Send application/x-ndjson to ${imports}.`,
          );
      }
      for (const body of [many(2), []]) {
        const { json } = await expectRefusal(collection.client.post(collection.path, body), 'validation_failed');
        expect(json.message).to.include(`${imports} as application/x-ndjson`);
        expect(json.details).to.deep.equal([{ code: 'invalid_type', message: json.message, in: 'body', pointer: '' }]);
      }
      expect(await newestId()).to.equal(last);
    });

    it('has a path for POST and OPTIONS only', async () => {
      const { client } = collection;
      const wrong = await client.get(imports);
      const options = await client.request('OPTIONS', imports, { token: null });
      for (const { headers } of [wrong, options]) expect(headers.allow).to.equal('POST, OPTIONS');
      expect((await client.request('OPTIONS', `${imports}?limit=1`)).json.code).to.equal('unknown_parameter');
      for (const path of [`${imports}/`, `${imports}/1`, imports.replace('imports', 'Imports')])
        expect((await client.post(path, '', { headers: NDJSON })).status, path).to.equal(404);
    });
  });

  describe('an import with an Idempotency-Key', () => {
    const withKey = (key: string) => ({ 'Idempotency-Key': key });

    it('runs once: the same lines create nothing again and get the same results', async () => {
      const [key, records] = [withKey(randomUUID()), many(300)];
      const first = await sendAll(records, key);
      expect(first.every((line) => line.status === 201 && !('replayed' in line))).to.equal(true);
      const last = await newestId();
      for (let i = 0; i < 2; i++)
        expect(await sendAll(records, key)).to.deep.equal(first.map((line) => ({ ...line, replayed: true })));
      expect(await newestId()).to.equal(last);
    });

    it('continues where it stopped, retries rejected lines, and rejects a line that has changed', async () => {
      const [key, lines] = [withKey(randomUUID()), many(6)];
      const partial = await sendAll([lines[0], lines[1], '{'], key);
      expect(outcomes(partial)).to.deep.equal([201, 201, [400, 'malformed_json']]);
      const deleted = `${collection.path}/${partial[1].id}`;
      await collection.client.delete(deleted);
      const whole = await sendAll(lines, key);
      expect(whole.slice(0, 2)).to.deep.equal(partial.slice(0, 2).map((line) => ({ ...line, replayed: true })));
      expect(whole.slice(2).map(({ status, replayed }) => [status, replayed])).to.deep.equal(
        Array.from({ length: 4 }, () => [201, undefined]),
      );
      expect((await collection.client.get(deleted)).status).to.equal(404);
      const changed = await sendAll([lines[0], collection.fields()], key);
      expect(outcomes(changed)).to.deep.equal([201, [422, 'idempotency_key_reused']]);
    });

    it('cannot share its key with a single POST', async () => {
      const [first, second] = [withKey(randomUUID()), withKey(randomUUID())];
      const [fields, other] = many(2);
      await sendAll([fields], first);
      const post = collection.client.post(collection.path, fields, { headers: first });
      await expectRefusal(post, 'idempotency_key_reused');
      await collection.client.post(collection.path, other, { headers: second });
      const last = await newestId();
      await expectRefusal(send(ndjson([other]), second), 'idempotency_key_reused');
      expect(await newestId()).to.equal(last);
    });

    it('is rejected if the key is invalid', async () => {
      await expectRefusal(send(ndjson(many(1)), withKey('')), 'invalid_idempotency_key');
    });
  });
}
