import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { HttpResponse } from '../../support/http-client.js';
import type { Collection, Fields } from './collection.js';

const LINES = { 'Content-Type': 'application/x-ndjson' };

/** @returns the parsed lines of a response */
function linesOf({ text }: HttpResponse): Record<string, unknown>[] {
  expect(text).to.satisfy((text: string) => text === '' || text.endsWith('\n'));
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** The path without a version and with one. */
function bothForms(path: string): string[] {
  const bare = path.replace(/^\/v1/, '');
  return [bare, `/v1${bare}`];
}

export function describeImport(collection: Collection): void {
  const imports = `${collection.path}/imports`;
  // An order is several rows.
  const isCsvTaken = !collection.path.endsWith('/orders');
  const send = (body: string | Buffer, headers: Record<string, string> = {}) =>
    collection.client.post(imports, body, { headers: { ...LINES, ...headers } });
  const stream = (records: readonly Fields[]) => records.map((one) => `${JSON.stringify(one)}\n`).join('');
  const many = (count: number) => Array.from({ length: count }, () => collection.fields());
  const newestId = async () => (await collection.client.get(`${collection.path}?sort=-id&limit=1`)).json[0]?.id ?? 0;

  describe('an import', () => {
    it('creates a record for each line and returns a result for each, in order', async () => {
      const records = many(600);
      const response = await send(stream(records));
      expect([response.status, response.headers['content-type']]).to.deep.equal([200, 'application/x-ndjson']);
      expect(response.headers).to.include({ 'cache-control': 'no-store', 'api-version': '1' });
      const results = linesOf(response);
      const ids = results.map(({ id }) => Number(id));
      expect(results).to.deep.equal(ids.map((id, at) => ({ line: at + 1, status: 201, id })));
      expect(ids).to.deep.equal(ids.toSorted((a, b) => a - b));
      expect(new Set(ids)).to.have.length(600);
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
      const results = linesOf(
        await send(invalid.flatMap((line) => [line, JSON.stringify(collection.fields())]).join('\n')),
      );
      expect(results).to.have.length(2 * invalid.length);
      for (const [at, line] of invalid.entries()) {
        const { status, json } = await collection.client.post(collection.path, line);
        expect(results[2 * at], line).to.deep.equal({ line: 2 * at + 1, status, error: json });
        expect(results[2 * at + 1], line).to.include({ line: 2 * at + 2, status: 201 });
      }
    });

    it('skips a byte order mark and blank lines, accepts LF and CRLF, and needs no final line end', async () => {
      const [one, two, three] = many(3).map((fields) => JSON.stringify(fields));
      const results = linesOf(await send(`\ufeff\n${one}\r\n \t\r\n\n ${two}\n${three}`));
      expect(results.map(({ line, status }) => [line, status])).to.deep.equal([
        [1, 201],
        [2, 201],
        [3, 201],
      ]);
      const [fields] = many(1);
      const [marked, again] = linesOf(await send(`\ufeff${JSON.stringify(fields)}\n\ufeff{}\n`));
      expect(marked).to.include({ line: 1, status: 201 });
      expect(again?.['error'], 'a mark elsewhere').to.include({ code: 'malformed_json' });
    });

    it('asks whether line ends are missing where records follow one another in a line', async () => {
      const [one, two] = many(2).map((fields) => JSON.stringify(fields));
      for (const joined of [`${one}${two}`, `${one} ${two}`, '{}'.repeat(20_000)]) {
        const [result] = linesOf(await send(`${joined}\n`));
        expect(JSON.stringify(result?.['error'])).to.include('Are line ends missing?');
      }
      const [broken] = linesOf(await send('{"name": }\n'));
      expect(JSON.stringify(broken)).to.not.include('--data-binary');
    });

    it('rejects only the line that is not UTF-8', async () => {
      const [one, two] = many(2).map((fields) => JSON.stringify(fields));
      const body = Buffer.concat([`${one}\n{"name":"`, Buffer.from([0xc3, 0x28]), `"}\n${two}\n`].map(Buffer.from));
      const results = linesOf(await send(body));
      expect(results.map(({ status }) => status)).to.deep.equal([201, 400, 201]);
      expect(results[1]?.['error']).to.include({ code: 'malformed_json' });
    });

    it('may be empty', async () => {
      for (const chunked of [false, true]) {
        const response = await collection.client.post(imports, '', { headers: LINES, chunked });
        expect([response.status, response.text]).to.deep.equal([200, '']);
        expect(response.headers['content-type']).to.equal('application/x-ndjson');
      }
    });

    it('must be uncompressed UTF-8', async () => {
      const body = stream(many(1));
      for (const headers of [
        { 'Content-Type': 'application/x-ndjson; charset=latin1' },
        { 'Content-Encoding': 'gzip' },
        { 'Content-Type': 'application/ndjson' },
      ] as Record<string, string>[]) {
        const response = await send(body, headers);
        expect([response.status, response.json.code]).to.deep.equal([415, 'unsupported_media_type']);
        expect(response.json.message).to.include('application/x-ndjson');
      }
      const type = 'Application/X-NDJSON ; charset="UTF-8"';
      expect((await send(body, { 'Content-Type': type })).status).to.equal(200);
    });

    it('is accepted if the client accepts NDJSON or JSON', async () => {
      for (const Accept of ['application/x-ndjson', 'application/json', 'application/*', '*/*']) {
        expect((await send(stream(many(1)), { Accept })).status, Accept).to.equal(200);
      }
      const response = await send(stream(many(1)), { Accept: 'text/html' });
      expect([response.status, response.json.code]).to.deep.equal([406, 'not_acceptable']);
    });

    it('takes only its own media type, even for an empty body', async () => {
      const record = JSON.stringify(collection.fields());
      const last = await newestId();
      for (const [body, type] of [
        [record, 'application/json'],
        [record, 'text/plain'],
        [record, ''],
        ['', ''],
      ] as const) {
        const headers: Record<string, string> = { 'Content-Type': type };
        const response = await collection.client.post(imports, body, { headers });
        expect([response.status, response.json.code], type).to.deep.equal([415, 'unsupported_media_type']);
        expect(response.json.message).to.equal(
          `Send the body as application/x-ndjson${isCsvTaken ? ' or text/csv' : ''} in UTF-8, without a content coding.`,
        );
      }
      expect(await newestId()).to.equal(last);
    });

    it('is not taken by the collection, whose 415 names the right path', async () => {
      const last = await newestId();
      for (const path of bothForms(collection.path)) {
        for (const Accept of ['*/*', 'application/x-ndjson'])
          for (const [body, query] of [
            [stream(many(1)), ''],
            ['', ''],
            [stream(many(1)), '?limit=1'],
          ] as const) {
            const headers = { ...LINES, Accept };
            const response = await collection.client.post(`${path}${query}`, body, { headers });
            expect([response.status, response.json.code]).to.deep.equal([415, 'unsupported_media_type']);
            expect(response.json.message).to.equal(
              `Send the body as application/json in UTF-8, without a content coding. Send application/x-ndjson to ${path}/imports.`,
            );
          }
      }
      expect(await newestId()).to.equal(last);
    });

    it('is the way for an array, as the collection says that refuses it', async () => {
      const last = await newestId();
      for (const path of bothForms(collection.path))
        for (const body of [many(2), []]) {
          const { status, json } = await collection.client.post(path, body);
          expect([status, json.code]).to.deep.equal([400, 'validation_failed']);
          expect(json.message).to.include(`${path}/imports as application/x-ndjson`);
          expect(json.details).to.deep.equal([
            { code: 'invalid_type', message: json.message, in: 'body', pointer: '' },
          ]);
        }
      expect(await newestId()).to.equal(last);
      const [line] = linesOf(await send('[]\n')) as { error?: { details: object[] } }[];
      expect(line?.error?.details[0]).to.include({ code: 'invalid_type', pointer: '' });
    });

    it('is refused by the collection for its version, before the 415 names a path', async () => {
      for (const path of bothForms(collection.path)) {
        const headers = { ...LINES, 'API-Version': '99' };
        const response = await collection.client.post(path, stream(many(1)), { headers });
        expect([response.status, response.json.code]).to.deep.equal([400, 'unsupported_version']);
      }
    });

    it('works at the path with a version and at the one without', async () => {
      for (const path of bothForms(imports)) {
        const response = await collection.client.post(path, stream(many(1)), { headers: LINES });
        expect(linesOf(response).map(({ status }) => status)).to.deep.equal([201]);
      }
    });

    it('has a path for POST and OPTIONS only', async () => {
      for (const path of bothForms(imports)) {
        for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
          const response = await collection.client.request(method, path);
          expect([response.status, response.headers['allow']], method).to.deep.equal([405, 'POST, OPTIONS']);
          if (method !== 'HEAD') expect(response.json.code).to.equal('method_not_allowed');
          const denied = await collection.client.request(method, path, { token: null });
          expect(denied.status, method).to.equal(401);
        }
        const options = await collection.client.request('OPTIONS', path, { token: null });
        expect([options.status, options.headers['allow']]).to.deep.equal([204, 'POST, OPTIONS']);
        const unknown = await collection.client.request('OPTIONS', `${path}?limit=1`);
        expect([unknown.status, unknown.json.code]).to.deep.equal([400, 'unknown_parameter']);
        for (const wrong of [`${path}/`, `${path}/1`, path.replace('imports', 'Imports')])
          expect((await collection.client.post(wrong, '', { headers: LINES })).status, wrong).to.equal(404);
      }
    });

    it('is not taken by items', async () => {
      const { path } = await collection.create();
      for (const method of ['PUT', 'PATCH']) {
        expect((await collection.client.request(method, path, { body: '{}\n', headers: LINES })).status).to.equal(415);
      }
    });
  });

  describe('an import with an Idempotency-Key', () => {
    const sendWithKey = (body: string, key: string) => send(body, { 'Idempotency-Key': key });

    it('runs once: the same lines create nothing again and get the same results', async () => {
      const [key, body] = [randomUUID(), stream(many(300))];
      const first = linesOf(await sendWithKey(body, key));
      expect(first.every((line) => line['status'] === 201 && !('replayed' in line))).to.equal(true);
      const last = await newestId();
      for (let i = 0; i < 2; i++) {
        const again = linesOf(await sendWithKey(body, key));
        expect(again).to.deep.equal(first.map((line) => ({ ...line, replayed: true })));
      }
      expect(await newestId()).to.equal(last);
    });

    it('continues where it stopped, and retries rejected lines', async () => {
      const [key, records] = [randomUUID(), many(6)];
      const lines = records.map((one) => JSON.stringify(one));
      const partial = linesOf(await sendWithKey(`${lines[0]}\n${lines[1]}\n{\n`, key));
      expect(partial.map(({ status }) => status)).to.deep.equal([201, 201, 400]);
      await collection.client.delete(`${collection.path}/${partial[1]?.['id']}`);
      const whole = linesOf(await sendWithKey(lines.join('\n'), key));
      expect(whole.slice(0, 2)).to.deep.equal(partial.slice(0, 2).map((line) => ({ ...line, replayed: true })));
      expect(whole.slice(2).map(({ status, replayed }) => [status, replayed])).to.deep.equal(
        Array.from({ length: 4 }, () => [201, undefined]),
      );
      expect((await collection.client.get(`${collection.path}/${partial[1]?.['id']}`)).status).to.equal(404);
    });

    it('rejects a line that has changed', async () => {
      const [key, [one, two, three]] = [randomUUID(), many(3)];
      await sendWithKey(stream([one ?? {}, two ?? {}]), key);
      const results = linesOf(await sendWithKey(stream([one ?? {}, three ?? {}]), key));
      expect(results[0]).to.include({ status: 201, replayed: true });
      expect(results[1]).to.deep.include({ line: 2, status: 422 });
      expect(results[1]?.['error']).to.include({ code: 'idempotency_key_reused' });
    });

    it('cannot share its key with a single POST', async () => {
      const [first, second, fields] = [randomUUID(), randomUUID(), collection.fields()];
      await sendWithKey(stream([fields]), first);
      const single = await collection.client.post(collection.path, fields, { headers: { 'Idempotency-Key': first } });
      expect([single.status, single.json.code]).to.deep.equal([422, 'idempotency_key_reused']);
      const other = collection.fields();
      await collection.client.post(collection.path, other, { headers: { 'Idempotency-Key': second } });
      const last = await newestId();
      const response = await sendWithKey(stream([other]), second);
      expect([response.status, response.json.code]).to.deep.equal([422, 'idempotency_key_reused']);
      expect(await newestId()).to.equal(last);
    });

    it('that is sent three times concurrently creates each record once', async () => {
      const [key, body] = [randomUUID(), stream(many(300))];
      const before = await newestId();
      const responses = (
        await Promise.all([sendWithKey(body, key), sendWithKey(body, key), sendWithKey(body, key)])
      ).map(linesOf);
      const ids = responses.map((lines) => lines.map(({ id }) => id));
      expect(ids[1]).to.deep.equal(ids[0]);
      expect(ids[2]).to.deep.equal(ids[0]);
      for (let at = 0; at < 300; at++) {
        expect(responses.filter((lines) => !lines[at]?.['replayed'])).to.have.length(1);
      }
      const created = await collection.client.get(`${collection.path}?id.gt=${before}&limit=1000`);
      expect(created.json).to.have.length(300);
    });

    it('is rejected if the key is invalid', async () => {
      const response = await sendWithKey(stream(many(1)), '');
      expect([response.status, response.json.code]).to.deep.equal([400, 'invalid_idempotency_key']);
    });
  });
}
