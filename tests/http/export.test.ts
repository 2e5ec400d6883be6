import { once } from 'node:events';
import { expect } from 'chai';
import { queryTooExpensive, unavailable } from '#src/domain/errors.js';
import { expectRefusal, received } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { jsonLines } from '../support/line-stream.js';
import { cursorIn, linksOf } from '../support/links.js';
import { list } from '../support/list.js';
import { listService } from '../support/middleware-harness.js';
import { begin, expectEndOfReading, LINES, logged, pagesUntilFull } from '../support/watched-export.js';

const CSV = { Accept: 'text/csv' };
describe('a list as NDJSON', () => {
  const service = inProcessService();
  const lines = async (path: string, headers: Record<string, string> = {}) => {
    const response = await service.get(path, { headers: { ...LINES, ...headers } });
    expect(response.status, response.text).to.equal(200);
    expect(response.headers['content-type']).to.equal('application/x-ndjson');
    expect(response.headers.etag).to.equal(undefined);
    const { text, headers: shown } = response;
    return { text, headers: shown, records: jsonLines(text), links: linksOf(shown['link']) };
  };

  before(async () => {
    for (let i = 0; i < 300; i++) await service.post('/products', { name: `product ${i % 7} \u{1f600}\u2028` });
  });

  it('has one line per match, without a limit', async () => {
    for (const path of ['/products', '/v1/products']) {
      const { records, text, headers } = await lines(path);
      expect(records.map(({ id }) => id)).to.deep.equal(Array.from({ length: 300 }, (_, i) => i + 1));
      expect(records[0]).to.deep.equal((await service.get('/products/1')).json);
      expect(text.endsWith('}\n')).to.equal(true);
      expect(headers['link']).to.equal(`<${path}/changes>; rel="monitor"`);
      expect(headers['cache-control']).to.equal('private, no-cache');
    }
  });

  it('has no line end inside a line, not even one of Unicode', async () => {
    const name = 'a\u2028b\u2029c\u0085d';
    await service.post('/products', { name, attributes: { [name]: name } });
    for (const query of ['', '&limit=1', '&fields=name,attributes']) {
      const { text, records } = await lines(`/products?name.prefix=a${query}`);
      expect(text).to.match(/a\\u2028b\\u2029c\\u0085d/);
      expect(text).to.not.match(/[\u0085\u2028\u2029]/);
      expect(records).to.deep.equal((await service.get(`/products?name.prefix=a${query}`)).json);
    }
    await service.delete(`/products/${(await service.get('/products?name.prefix=a')).json[0].id}`);
  });

  it('respects filters, sort and fields', async () => {
    const query = `name.prefix=${encodeURIComponent('product 3')}&sort=-id&fields=id`;
    const { records } = await lines(`/products?${query}`);
    expect(records).to.deep.equal((await service.get(`/products?${query}&limit=1000`)).json);
    expect(records).to.have.length(43);
    expect((await lines('/products?sort=-name,-id&fields=id')).records).to.deep.equal(
      (await service.get('/products?sort=-name,-id&fields=id&limit=1000')).json,
    );
  });

  it('continues from a cursor of the JSON list, in any order', async () => {
    for (const query of ['', 'sort=-name&']) {
      const array = await service.get(`/products?${query}limit=120`);
      const cursor = cursorIn(linksOf(array.headers['link'])['next']);
      const { records } = await lines(`/products?${query}cursor=${cursor}`);
      expect([...array.json, ...records]).to.deep.equal((await service.get(`/products?${query}limit=1000`)).json);
    }
  });

  it('is the same page as the JSON list if a limit is given, links included', async () => {
    for (const path of ['/products?limit=120', '/v1/products?limit=1&sort=-id&fields=id', '/products?limit=300']) {
      const array = await service.get(path);
      const { records, headers } = await lines(path);
      expect(records, path).to.deep.equal(array.json);
      expect(headers['link'], path).to.equal(array.headers['link']);
    }
    const { links } = await lines('/products?limit=120');
    const second = await lines(`${links['next']}`);
    expect((await lines(`${second.links['prev']}`)).records).to.have.length(120);
  });

  it('rejects a backward cursor without a limit', async () => {
    const second = linksOf((await lines('/products?limit=5')).headers['link'])['next'];
    const prev = (await lines(`${second}`)).links['prev'] ?? '';
    const attempt = service.get(prev.replace('limit=5&', ''), { headers: LINES });
    const response = await expectRefusal(attempt, 'invalid_parameter');
    expect(response.json.details[0]).to.include({ code: 'required', in: 'query', name: 'limit' });
    expect((await service.get(prev.replace('limit=5&', ''))).status).to.equal(200);
  });

  it('has no ETag and ignores If-None-Match', async () => {
    for (const [path, count] of [
      ['/products?limit=1', 1],
      ['/products', 300],
      ['/products?name=none', 0],
    ] as const)
      expect((await lines(path, { 'If-None-Match': '*' })).records).to.have.length(count);
  });

  it('has the same headers for HEAD as for GET', async () => {
    for (const path of ['/products', '/products?limit=5', '/products?name=none']) {
      const head = await service.request('HEAD', path, { headers: LINES });
      const got = await lines(path);
      expect([head.status, head.text], path).to.deep.equal([200, '']);
      for (const name of ['content-type', 'link', 'vary', 'cache-control', 'etag'])
        expect(head.headers[name], `${path} ${name}`).to.equal(got.headers[name]);
    }
  });

  describe('is negotiated', () => {
    const CHOSEN: readonly (readonly [type: string, ...accepts: string[]])[] = [
      [
        'application/x-ndjson',
        ...list`application/x-ndjson  Application/X-NDJSON  application/problem+json, application/x-ndjson
          application/x-ndjson, */*  application/x-ndjson, application/json;q=0.9
          application/json;q=0.1, application/x-ndjson;q=0.2  text/csv;q=0.5, application/x-ndjson`,
      ],
      [
        'application/json',
        ...list`*/*  application/*  application/json, application/x-ndjson  application/json, application/x-ndjson;q=0.9
          application/x-ndjson;q=0.5, application/json  application/x-ndjson;q=0, */*  application/problem+json
          text/csv;q=0.9, */*  application/json, text/csv`,
      ],
      [
        'text/csv; charset=utf-8; header=present',
        ...list`Text/CSV  text/csv; charset=utf-8  text/csv; header=present  text/*  text/csv, */*
          application/json;q=0.1, text/csv;q=0.2, application/x-ndjson;q=0.1`,
      ],
      ['', ...list`application/ndjson  application/x-ndjson;q=0  text/plain  text/csv;q=0  text/csv; charset=utf-16`],
    ];
    it('from Accept', async () => {
      for (const [type, ...accepts] of CHOSEN)
        for (const Accept of accepts) {
          const { status, headers } = await service.get('/products?limit=1', { headers: { Accept } });
          const expected = type ? [200, type] : [406, 'application/json'];
          expect([status, headers['content-type']], Accept).to.deep.equal(expected);
        }
    });

    it('for lists only', async () => {
      for (const headers of [LINES, CSV])
        for (const [method, path] of Object.entries({ GET: '/products/1', POST: '/products', DELETE: '/products/1' })) {
          const attempt = service.request(method, path, { headers, body: { name: 'x' } });
          await expectRefusal(attempt, 'not_acceptable', method);
        }
    });

    it('but errors stay JSON', async () => {
      for (const { Accept } of [LINES, CSV]) {
        const response = await service.get('/products?colour=red', { headers: { Accept } });
        expect([response.status, response.headers['content-type']]).to.deep.equal([400, 'application/json']);
        const problem = `${Accept}, application/problem+json`;
        const { headers } = await service.get('/products?colour=red', { headers: { Accept: problem } });
        expect(headers['content-type']).to.equal('application/problem+json');
      }
      expect((await service.get('/products', { headers: LINES, token: null })).json.code).to.equal('unauthenticated');
    });
  });
});

describe('an export', () => {
  const service = listService();
  const LARGE = { description: 'x'.repeat(5_000) };
  const exported = (path = '/products') => service.get(path, { headers: LINES, token: null });

  it('reads each record once in small pages, and lets other requests run', async () => {
    await service.records.fill(1_000);
    let otherResponses = 0;
    service.records.before = async (page) => {
      if (page % 5 !== 0) return;
      expect((await service.get('/products/1', { token: null })).status).to.equal(200);
      otherResponses++;
    };
    const ids = jsonLines((await exported()).text).map(({ id }) => id);
    expect(ids).to.deep.equal(Array.from({ length: 1_000 }, (_, i) => i + 1));
    expect(otherResponses).to.be.at.least(3);
    for (const { limit } of service.records.queries) expect(limit).to.be.within(32, 128);
    expect((await logged(service))['status']).to.equal(200);
  });

  it('yields to the event loop between two pages, even if the store responds synchronously', async () => {
    await service.records.fill(1_000);
    let turns = 0;
    const seen: number[] = [];
    service.records.before = () => {
      seen.push(turns);
      setImmediate(() => turns++);
    };
    await exported();
    expect(new Set(seen)).to.have.length(service.records.queries.length);
  });

  it('reads one page for HEAD, and only the requested records with a limit', async () => {
    await service.records.fill(500);
    await service.request('HEAD', '/products', { headers: LINES, token: null });
    expect(service.records.queries).to.have.length(1);
    expect(jsonLines((await exported('/products?limit=300')).text)).to.have.length(300);
    expect(service.records.queries.map(({ limit }) => limit).slice(1)).to.deep.equal([300]);
  });

  it('reads the store no faster than the client reads', async () => {
    await service.records.fill(600, { description: 'x'.repeat(50_000) });
    const response = await begin(service, '/products');
    response.pause();
    const pages = await pagesUntilFull(service);
    let bytes = 0;
    for await (const chunk of response) bytes += chunk.length;
    expect(pages * 3).to.be.lessThan(service.records.queries.length);
    expect(bytes).to.be.greaterThan(600 * 50_000);
    expect((await logged(service))['complete']).to.equal(true);
  });

  it('stops reading the store when the client disconnects', async () => {
    await service.records.fill(2_000, LARGE);
    await expectEndOfReading(service);
  });

  for (const failure of [unavailable('The store is gone.'), new Error('a defect')]) {
    it(`that fails at its first page returns a normal error response: ${failure.message}`, async () => {
      await service.records.fill(10);
      service.records.before = () => Promise.reject(failure);
      const response = await exported();
      expect(response.status).to.equal('code' in failure ? 503 : 500);
      expect(response.headers['content-type']).to.equal('application/json');
      expect(response.headers['cache-control']).to.equal('no-store');
    });

    it(`that fails later is cut off without a final chunk: ${failure.message}`, async () => {
      await service.records.fill(500);
      for (const failing of [2, 3, 5]) {
        service.records.queries.length = 0;
        service.records.before = (page) => (page === failing ? Promise.reject(failure) : undefined);
        const socket = await service.connect();
        socket.write(`GET /products HTTP/1.1\r\nHost: x\r\nAccept: ${LINES.Accept}\r\n\r\n`);
        const text = await received(socket);
        expect(text, `${failing}`).to.match(/^HTTP\/1\.1 200 [\s\S]*\r\nTransfer-Encoding: chunked\r\n/i);
        expect(text.endsWith('0\r\n\r\n')).to.equal(false);
      }
      expect(await logged(service)).to.include({ status: 200, complete: false });
      const warnings = service.logger.lines.filter(({ event }) => event === 'response aborted');
      expect(warnings.map(({ details }) => details['error'])).to.deep.equal([failure, failure, failure]);
      expect(new Set(warnings.map(({ details }) => details['requestId']))).to.have.length(3);
    });
  }

  it('that is too expensive is rejected before it begins', async () => {
    service.records.before = () => Promise.reject(queryTooExpensive());
    await expectRefusal(exported('/products?name.ne=x'), 'query_too_expensive');
  });

  it('completes while the service drains', async () => {
    await service.records.fill(500);
    let release = () => {};
    service.records.before = (page) => (page === 3 ? new Promise((resolve) => (release = resolve)) : undefined);
    const running = exported();
    while (service.records.queries.length < 3) await once(service.records.reading, 'page');
    const drained = service.drain.drain(10_000);
    release();
    const outcome = await running.then(({ text }) => jsonLines(text).length).catch((error: Error) => error.message);
    expect(outcome).to.equal(500);
    service.client.close();
    expect(await drained).to.equal(true);
    expect(await logged(service)).to.include({ status: 200, complete: true });
  });

  it('is cut off and stops reading when the drain timeout expires', async () => {
    await service.records.fill(500);
    let release = () => {};
    service.records.before = (page) => (page === 3 ? new Promise((resolve) => (release = resolve)) : undefined);
    const running = exported()
      .then(() => 'ended')
      .catch(() => 'cut');
    while (service.records.queries.length < 3) await once(service.records.reading, 'page');
    expect(await service.drain.drain(50)).to.equal(false);
    expect(await running).to.equal('cut');
    expect(await logged(service)).to.include({ complete: false });
    release();
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(service.records.queries).to.have.length(3);
  });
});
