import { expect } from 'chai';
import { expectIssues, expectRefusal } from '../support/http-client.js';
import { NDJSON, outcomes, resultsOf } from '../support/imports.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { BAD_QUERIES, deep, OTHER_TYPES } from '../support/invalid-values.js';
import { list } from '../support/list.js';

// random-values.test.ts has bodies that break a rule, by every way to write.
describe('invalid input', () => {
  const service = inProcessService();

  before(async () => {
    expect((await service.post('/products', { name: 'the first' })).json.id).to.equal(1);
  });

  it('accepts a depth of 20, and the same name in two objects', async () => {
    expect((await service.post('/products', deep(20))).json.code).to.equal('validation_failed');
    const twins = { name: 'Lamp', attributes: { name: 'Lamp', '"{[': '}]"' } };
    expect((await service.post('/products', twins)).status).to.equal(201);
  });

  describe('media types', () => {
    const attempt = (headers: Record<string, string>, method = 'POST') =>
      service.request(method, method === 'POST' ? '/products' : '/products/1', { body: '{"name":"Lamp"}', headers });

    it('rejects a body of another type', async () => {
      for (const type of OTHER_TYPES) {
        const response = await expectRefusal(attempt({ 'Content-Type': type }), 'unsupported_media_type', type);
        expect(response.headers['accept-patch'], type).to.equal(undefined);
      }
    });

    it('rejects a body without Content-Type', async () => {
      const message = `POST /products HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${'x'}\r\nContent-Length: 2\r\n\r\n{}`;
      expect(await service.raw(message.replace('Bearer x', `Bearer ${FIRST_KEY}`))).to.match(/^HTTP\/1.1 415 /);
    });

    // Exponential matching would practically never end.
    it('parses pathological headers', async () => {
      for (const tail of ['; '.repeat(3_000), ';\t '.repeat(2_000), '; a='.repeat(2_000)]) {
        expect((await attempt({ 'Content-Type': `application/json${tail}"` })).status).to.equal(415);
        const Prefer = `return${tail}"${'"\\'.repeat(2_000)}`;
        expect((await attempt({ 'Content-Type': 'application/json', Prefer })).status).to.equal(201);
      }
    });

    it('accepts JSON in UTF-8, however the media type is written', async () => {
      for (const type of [
        'APPLICATION/json',
        'application/json;charset=utf-8',
        'application/json ; charset="UTF-8"; x=y',
        'application/json;',
        'application/json; x="a;b"; y="\\""',
      ])
        expect((await attempt({ 'Content-Type': type })).status, type).to.equal(201);
    });
  });

  describe('Accept', () => {
    it('rejects what has no JSON in UTF-8', async () => {
      for (const accept of [
        ...list`text/html  application/xml, image/*  application/json;q=0  image/png;q=1, */*;q=0  nonsense
          application/json; charset=latin1  application/json; profile=x; q=0`,
        `${'a/b,'.repeat(3_000)}application/json`,
      ]) {
        const attempt = service.get('/products', { headers: { Accept: accept } });
        const response = await expectRefusal(attempt, 'not_acceptable', accept);
        expect(response.headers['content-type']).to.equal('application/json');
      }
    });

    it('accepts what has it', async () => {
      for (const accept of [
        ...list`application/json  application/*  */*  text/html, */*;q=0.1  application/json; charset=UTF-8
          application/json; charset="utf-8"; q=0.5  application/json; profile=x  */*; version=1
          application/json;indent=2;charset=utf-8  text/html, application/json; profile="a,b;q=0"; q=0.5`,
        `application/json,${'a/b,'.repeat(3_000)}`,
      ]) {
        const { status, headers } = await service.get('/products?limit=1', { headers: { Accept: accept } });
        expect([status, headers['content-type']], accept).to.deep.equal([200, 'application/json']);
      }
    });

    it('returns RFC 9457 problem details on request', async () => {
      const response = await service.post('/products', {}, { headers: { Accept: 'application/problem+json' } });
      expect(response.headers['content-type']).to.equal('application/problem+json');
      expect(response.json).to.include({ type: 'about:blank', title: 'Bad Request' });
      expect(response.json).to.include({ status: 400, code: 'validation_failed' });
      expect(response.json.details).to.have.length(1);
      expect(response.json.detail).to.equal(response.json.message);
    });
  });

  describe('size', () => {
    for (const chunked of [false, true])
      it(`accepts 1 MiB, and rejects more ${chunked ? 'without' : 'with'} Content-Length`, async () => {
        const whole = `{"name":"Lamp"}${' '.repeat(1024 * 1024 - 15)}`;
        expect((await service.post('/products', whole, { chunked })).status).to.equal(201);
        await expectRefusal(service.post('/products', `${whole} `, { chunked }), 'payload_too_large');
      });

    it('reads and discards the rest of a too large body, so that the client gets its response', async () => {
      const head = `POST /products HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\nContent-Type: application/json\r\n`;
      const chunk = `100000\r\n${'x'.repeat(1024 * 1024)}\r\n`;
      const text = await service.raw(
        `${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(20)}0\r\n\r\n`,
      );
      expect(text).to.match(/^HTTP\/1\.1 413 /);
    });

    describe('of a body with many names and values', () => {
      /** @returns an object with one array, with `count` names and values in all */
      const bodyOf = (count: number) =>
        `{"name":[${Array.from({ length: count - 3 }, (_, i) => [`"[{,:\\""`, '-1.5e3', '{}', 'null', '[ ]'][i % 5]).join(' , ')}]}`;
      const MERGE = { 'Content-Type': 'application/merge-patch+json' };
      const PATCH = { 'Content-Type': 'application/json-patch+json' };

      it('accepts 10,000 of them, and rejects more with 413 for every method', async () => {
        const { json } = await service.post('/products', { name: 'x' });
        const path = `/products/${json.id}`;
        const sendAll = (body: string) => [
          service.post('/products', body),
          service.put(path, body),
          service.patch(path, body, { headers: MERGE }),
        ];
        for (const response of await Promise.all(sendAll(bodyOf(10_000))))
          await expectRefusal(response, 'validation_failed');
        const refused = await Promise.all([
          ...sendAll(bodyOf(10_001)),
          service.patch(path, `[${'{},'.repeat(10_000)}{}]`, { headers: PATCH }),
        ]);
        for (const response of refused) await expectRefusal(response, 'payload_too_large');
      });

      it('rejects them before it parses the whole body', async () => {
        for (const body of [`[${'{},'.repeat(300_000)}`, '['.repeat(15).padEnd(200_000, ',1'), '1 '.repeat(10_001)])
          expect((await service.post('/products', body)).json.code).to.equal('payload_too_large');
      });

      it('rejects only that line of an import', async () => {
        const lines = `${bodyOf(10_001)}\n{"name":"x"}\n`;
        const results = resultsOf(await service.post('/products/imports', lines, { headers: NDJSON }));
        expect(outcomes(results)).to.deep.equal([[413, 'payload_too_large'], 201]);
      });
    });
  });

  describe('paths', () => {
    it('are 404 where there is nothing, for any method and token', async () => {
      const ids = list`0  -1  +1  01  1e3  1.0  9007199254740992  9999999999999999  12345678901234567  abc  %31  %zz
        1%00  １`;
      for (const path of [
        ...list`/v1  /v1/  /v9/products  /v1/products/  /products/  //products  /Products  /V1/products  /getProduct
          /getAllProducts  /v1/products/getAll  /products/1/name  /v1/v1/products`,
        ...ids.map((id) => `/products/${encodeURI(id).replaceAll('%25', '%')}`),
      ])
        for (const [method, token] of [
          ['GET', null],
          ['GET', undefined],
          ['PUT', 'wrong'],
          ['OPTIONS', null],
        ] as const) {
          const response = await expectRefusal(
            service.request(method, path, token === undefined ? {} : { token }),
            'not_found',
            `${method} ${path}`,
          );
          expect(response.headers['ratelimit']).to.match(/^"default";r=\d+;t=\d+$/);
        }
    });
  });

  describe('parameters', () => {
    it('are rejected if they are wrong', async () => {
      for (const [query, code, issues] of BAD_QUERIES) {
        const response = await service.get(`/v1/products?${query}`);
        const what = query.slice(0, 60);
        const expected = issues.map((issue) => issue.join(' '));
        await expectIssues(response, code, expected, what);
        for (const { in: place, message, name } of response.json.details) {
          expect(place, what).to.equal('query');
          // A message shows control characters escaped.
          expect(message, what).to.include(name.replace('\0', '\\u0000'));
        }
      }
    });

    it('rejects unknown parameters for every method', async () => {
      for (const [method, path] of [
        ['POST', '/products'],
        ['GET', '/products/1'],
        ['PUT', '/products/1'],
        ['PATCH', '/products/1'],
        ['DELETE', '/products/1'],
        ['OPTIONS', '/products'],
        ['GET', '/health/live'],
      ] as const)
        await expectRefusal(
          service.request(method, `${path}?dry_run=1`, { ...(method !== 'GET' && { body: { name: 'x' } }) }),
          'unknown_parameter',
          method,
        );
      expect((await service.post('/products?limit=1', { name: 'x' })).json.code).to.equal('unknown_parameter');
    });
  });
});
