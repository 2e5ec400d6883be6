import { randomBytes } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { expect } from 'chai';
import { CODING_NAMES, CODINGS, decoded } from '../support/codings.js';
import { type HttpResponse, received } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { listService } from '../support/middleware-harness.js';
import { begin, LINES, logged, pagesUntilFull } from '../support/watched-export.js';

const options = (coding: string | undefined, headers = {}) => ({
  headers: { ...headers, ...(coding !== undefined && { 'Accept-Encoding': coding }) },
});
const codingOf = ({ headers }: HttpResponse) => headers['content-encoding'];
const variesByCoding = ({ headers }: HttpResponse) => /\bAccept-Encoding\b/.test(`${headers['vary']}`);
/** @returns the headers that do not change from one request to the next */
const stableHeaders = ({ headers }: HttpResponse) => {
  const { date, 'x-request-id': id, ratelimit, connection, 'keep-alive': alive, ...rest } = headers;
  return rest;
};

describe('a compressed list', () => {
  const service = inProcessService();
  const get = (path: string, coding?: string, headers = {}) => service.get(path, options(coding, headers));

  before(async () => {
    for (let i = 0; i < 200; i++)
      await service.post('/products', { name: `product ${i}`, description: 'many words '.repeat(10) });
  });

  for (const coding of CODING_NAMES) {
    it(`has the same content, ETag and links in ${coding} as uncompressed`, async () => {
      for (const path of ['/products', '/v1/products?limit=50&sort=-name']) {
        const [plain, coded] = [await get(path), await get(path, coding)];
        expect([coded.status, codingOf(plain), codingOf(coded)]).to.deep.equal([200, undefined, coding]);
        expect(decoded(coded)).to.equal(plain.text);
        expect(coded.bytes.length).to.be.lessThan(plain.bytes.length / 3);
        expect(coded.headers['content-length']).to.equal(`${coded.bytes.length}`);
        const { 'content-encoding': _, 'content-length': __, ...others } = stableHeaders(coded);
        const { 'content-length': ___, ...same } = stableHeaders(plain);
        expect(others).to.deep.equal(same);
      }
    });

    it(`has the same headers for HEAD as for GET in ${coding}`, async () => {
      for (const path of ['/products', '/products?limit=1']) {
        const [head, got] = [await service.request('HEAD', path, options(coding)), await get(path, coding)];
        expect([head.status, head.text]).to.deep.equal([200, '']);
        expect(stableHeaders(head)).to.deep.equal(stableHeaders(got));
      }
      for (const path of ['/products', '/products?limit=5']) {
        const head = await service.request('HEAD', path, options(coding, LINES));
        expect([codingOf(head), head.text, head.headers['content-length']]).to.deep.equal([coding, '', undefined]);
      }
    });

    it(`is 304 in every coding if the client has it in ${coding}`, async () => {
      const tag = `${(await get('/products', coding)).headers.etag}`;
      for (const other of [undefined, ...CODING_NAMES]) {
        const response = await get('/products', other, { 'If-None-Match': tag });
        expect([response.status, codingOf(response), response.headers.etag]).to.deep.equal([304, undefined, tag]);
        expect(variesByCoding(response)).to.equal(true);
      }
    });

    it(`has the same lines in ${coding}, for a page and for an export`, async () => {
      for (const path of ['/products', '/products?limit=150', '/products?limit=1', '/products?name=none']) {
        const [plain, coded] = [await get(path, undefined, LINES), await get(path, coding, LINES)];
        expect([codingOf(plain), codingOf(coded)], path).to.deep.equal([undefined, coding]);
        expect(coded.headers['content-type']).to.equal('application/x-ndjson');
        expect(coded.headers['transfer-encoding']).to.equal('chunked');
        expect(coded.headers['link']).to.equal(plain.headers['link']);
        expect(decoded(coded), path).to.equal(plain.text);
        expect([variesByCoding(plain), variesByCoding(coded)]).to.deep.equal([true, true]);
      }
    });
  }

  it('uses the coding that the client prefers, or none', async () => {
    for (const [accepted, coding] of [
      ['gzip;q=0.5, br;q=0.4', 'gzip'],
      ['gzip, deflate, br', 'br'],
      ['*', 'gzip'],
      ['deflate', undefined],
      ['identity;q=0', undefined],
      ['*;q=0', undefined],
      ['gzip;q=a', undefined],
    ] as const)
      for (const headers of [{}, LINES]) {
        const response = await get('/products', accepted, headers);
        expect([response.status, codingOf(response)], accepted).to.deep.equal([200, coding]);
        expect(variesByCoding(response), accepted).to.equal(true);
      }
  });

  it('is uncompressed up to 1 KiB, but still varies by Accept-Encoding', async () => {
    const short = await get('/products?limit=1', 'gzip');
    expect([codingOf(short), variesByCoding(short)]).to.deep.equal([undefined, true]);
    expect(short.json).to.deep.equal([(await get('/products/1')).json]);
  });

  it('does not compress errors', async () => {
    const query = Array.from({ length: 60 }, (_, i) => `colour${i}=red`).join('&');
    for (const headers of [{}, LINES]) {
      const response = await get(`/products?${query}`, 'gzip', headers);
      expect([response.status, codingOf(response), variesByCoding(response)]).to.deep.equal([400, undefined, true]);
      expect(response.bytes.length).to.be.greaterThan(1_024);
      expect(response.json.details).to.have.length(60);
    }
    const refused = await service.get('/products', { ...options('gzip'), token: null });
    expect([refused.status, codingOf(refused), variesByCoding(refused)]).to.deep.equal([401, undefined, true]);
  });
});

describe('an item and compression', () => {
  const service = inProcessService();
  const LARGE = { name: 'Lamp', description: 'many words '.repeat(200) };

  it('is never compressed, so that its strong ETag stays valid', async () => {
    for (const coding of ['gzip', 'br', '*']) {
      const accepting = options(coding);
      const created = await service.post('/products', LARGE, accepting);
      const path = `/products/${created.json.id}`;
      for (const response of [
        created,
        await service.get(path, accepting),
        await service.get(`${path}?fields=description`, accepting),
        await service.put(path, { ...LARGE, name: 'Torch' }, accepting),
        await service.patch(path, { name: 'Lantern' }, accepting),
      ]) {
        expect(response.headers.etag).to.match(/^"/);
        expect([codingOf(response), variesByCoding(response)]).to.deep.equal([undefined, false]);
        expect(response.json.description).to.equal(LARGE.description);
        expect(response.bytes.length).to.be.greaterThan(1_024);
      }
      const head = await service.request('HEAD', path, accepting);
      expect([codingOf(head), variesByCoding(head)]).to.deep.equal([undefined, false]);
    }
  });
});

for (const coding of CODING_NAMES)
  describe(`an export in ${coding}`, () => {
    const service = listService();
    const ENCODED = { 'Accept-Encoding': coding };
    /** Fills the store with records that hardly compress. */
    const fill = async (count: number) => {
      await service.records.fill(count, () => ({ description: randomBytes(3_750).toString('base64') }));
    };
    /** @returns all lines; rejects with the error that the client sees */
    const read = async (response: NodeJS.ReadableStream) => {
      const texts: string[] = [];
      await pipeline(response, CODINGS[coding].stream().setEncoding('utf8'), async (source) => {
        for await (const text of source) texts.push(text);
      });
      return texts.join('').split('\n').slice(0, -1);
    };

    /** More pages than the client and the socket take while it does not read. */
    const RECORDS = 4_000;

    it('is complete, and reads the store no faster than the client reads', async () => {
      await fill(RECORDS);
      const response = await begin(service, '/products', ENCODED);
      expect(response.headers['content-encoding']).to.equal(coding);
      response.pause();
      expect(await pagesUntilFull(service)).to.be.lessThan(60);
      const lines = await read(response);
      expect(lines.map((line) => JSON.parse(line).id)).to.deep.equal(Array.from({ length: RECORDS }, (_, i) => i + 1));
      expect((await logged(service))['complete']).to.equal(true);
    });

    it('that fails is cut off, so that a decoding client sees an error', async () => {
      const failure = new Error('a defect');
      await fill(300);
      for (const failing of [2, 3, 5]) {
        const failLater = () => {
          service.records.queries.length = 0;
          service.records.before = (page) => (page === failing ? Promise.reject(failure) : undefined);
        };
        failLater();
        const socket = await service.connect();
        socket.write(
          `GET /products HTTP/1.1\r\nHost: x\r\nAccept: ${LINES.Accept}\r\nAccept-Encoding: ${coding}\r\n\r\n`,
        );
        const text = await received(socket);
        expect(text).to.match(/^HTTP\/1\.1 200 [\s\S]*\r\nTransfer-Encoding: chunked\r\n/i);
        expect(text).to.include(`\r\nContent-Encoding: ${coding}\r\n`);
        expect(text.endsWith('0\r\n\r\n')).to.equal(false);
        failLater();
        const seen = await read(await begin(service, '/products', ENCODED)).catch((error) => error);
        expect(seen).to.be.an('error');
      }
      expect(await logged(service)).to.include({ status: 200, complete: false });
      const warnings = service.logger.lines.filter(({ event }) => event === 'response aborted');
      expect(warnings.length).to.be.at.least(6);
      for (const { details } of warnings) expect(details['error']).to.equal(failure);
    });
  });
