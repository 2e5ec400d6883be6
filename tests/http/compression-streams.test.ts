import { once } from 'node:events';
import { get } from 'node:http';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { CODECS, compression } from '#src/adapters/inbound/http/middleware/negotiation.js';
import { CODING_NAMES, CODINGS, decoded } from '../support/codings.js';
import { middlewareHarness } from '../support/middleware-harness.js';

describe('a compressible response', () => {
  const service = middlewareHarness(compression);
  const request = (coding: string) => service.get('/', { headers: { 'Accept-Encoding': coding } });
  const document = (body: string | Buffer, headers: Record<string, string> = {}) => {
    service.handler = (ctx) => {
      ctx.vary('Accept-Encoding');
      ctx.set({ 'Content-Type': 'text/html', ...headers });
      ctx.body = body;
    };
  };

  it('is compressed above 1 KiB, counted in bytes', async () => {
    for (const [body, coding] of [
      ['x'.repeat(1_024), undefined],
      ['x'.repeat(1_025), 'gzip'],
      [`${'x'.repeat(1_022)}é`, undefined],
      [`${'x'.repeat(1_023)}é`, 'gzip'],
      [Buffer.alloc(1_024, 'x'), undefined],
      [Buffer.alloc(1_025, 'x'), 'gzip'],
    ] as const) {
      document(body);
      const response = await request('gzip');
      expect(response.headers['content-encoding']).to.equal(coding);
      expect(response.headers['content-type']).to.equal('text/html');
      expect(decoded(response)).to.equal(body.toString());
    }
  });

  it('is compressed only if it varies by Accept-Encoding or is NDJSON', async () => {
    const body = 'x'.repeat(2_000);
    for (const [type, coding] of [
      ['application/json', undefined],
      ['text/plain', undefined],
      ['application/x-ndjson', 'gzip'],
    ]) {
      service.handler = (ctx) => {
        ctx.set('Content-Type', `${type}`);
        ctx.body = body;
      };
      const { headers } = await request('gzip');
      expect([headers['content-encoding'], headers['vary']], type).to.deep.equal([coding, coding && 'Accept-Encoding']);
    }
  });

  it('is not compressed if it has a strong ETag', async () => {
    const body = 'x'.repeat(2_000);
    for (const [ETag, coding] of Object.entries({ '"1"': undefined, 'W/"1"': 'br' })) {
      document(body, { ETag });
      const response = await request('br');
      expect([response.headers['content-encoding'], response.headers.etag]).to.deep.equal([coding, ETag]);
    }
  });

  it('is not read for HEAD if it is a stream', async () => {
    let isBegun = false;
    service.handler = (ctx) => {
      ctx.set('Content-Type', 'application/x-ndjson');
      ctx.body = Readable.from(
        (async function* () {
          isBegun = true;
          yield Buffer.from('{"line":1}\n');
        })(),
      );
    };
    const response = await service.request('HEAD', '/', { headers: { 'Accept-Encoding': 'br' } });
    expect([response.status, response.headers['content-encoding'], isBegun]).to.deep.equal([200, 'br', false]);
  });

  for (const coding of CODING_NAMES) {
    it(`sends each line of a live stream immediately, in ${coding}`, async () => {
      let takeNext = () => {};
      const lines = ['{"line":1}\n', '{"line":2}\n', '{"line":3}\n'];
      service.handler = (ctx) => {
        ctx.set('Content-Type', 'application/x-ndjson');
        ctx.body = Readable.from(
          (async function* () {
            for (const line of lines) {
              yield Buffer.from(line);
              // The next line follows when the client has read this one.
              await new Promise<void>((resolve) => (takeNext = resolve));
            }
          })(),
        );
      };
      const outgoing = get({ port: service.client.port, headers: { 'Accept-Encoding': coding }, agent: false });
      const [response] = await once(outgoing, 'response');
      const seen: string[] = [];
      for await (const text of response.pipe(CODINGS[coding].stream()).setEncoding('utf8')) {
        seen.push(text);
        takeNext();
      }
      expect(seen).to.deep.equal(lines);
    });

    it(`closes its source when the client disconnects, in ${coding}`, async () => {
      let isClosed = () => {};
      const closed = new Promise<void>((resolve) => (isClosed = resolve));
      service.handler = (ctx) => {
        ctx.set('Content-Type', 'application/x-ndjson');
        ctx.body = Readable.from(
          (async function* () {
            try {
              for (;;) {
                yield Buffer.from('{"line":1}\n');
                await new Promise((resolve) => setImmediate(resolve));
              }
            } finally {
              isClosed();
            }
          })(),
        );
      };
      const outgoing = get({ port: service.client.port, headers: { 'Accept-Encoding': coding }, agent: false });
      const [response] = await once(outgoing, 'response');
      await once(response, 'data');
      response.destroy();
      await closed;
    });

    it(`does not block the event loop while it is compressed, in ${coding}`, async () => {
      const large = Buffer.alloc(8 * 1024 * 1024, 'many words ');
      let isDone = false;
      const coded = CODECS[coding].compress(large).finally(() => (isDone = true));
      await new Promise((resolve) => setImmediate(resolve));
      expect(isDone).to.equal(false);
      expect(CODINGS[coding].whole(await coded).equals(large)).to.equal(true);
    });
  }
});
