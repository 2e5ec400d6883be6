import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ConcurrencyLimits } from '#src/adapters/inbound/http/core/concurrency-limits.js';
import type { Context } from '#src/adapters/inbound/http/core/context.js';
import { ImportParameters, importHandler, NDJSON_IMPORT } from '#src/adapters/inbound/http/import/import-handler.js';
import { ResultBuffers } from '#src/adapters/inbound/http/import/result-buffer.js';
import { responseLimits } from '#src/adapters/inbound/http/middleware/limits.js';
import { compression } from '#src/adapters/inbound/http/middleware/negotiation.js';
import { readIdempotencyKey } from '#src/adapters/inbound/http/parameters/request-headers.js';
import { errors } from '#src/adapters/inbound/http/pipeline/app.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/definitions.js';
import type { RecordService } from '#src/application/records/record-service.js';
import type { RecordWrite } from '#src/application/records/record-writer.js';
import type { Product } from '#src/domain/product.js';
import { expectRefusal, received } from '../support/http-client.js';
import { DetailLogger, middlewareHarness } from '../support/middleware-harness.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** The step in which the client disconnects, and the number of lines sent: over 256 lines take two steps. */
const DISCONNECTS = [
  ['reservation', 1],
  ['first batch', 1],
  ['first batch', 300],
  ['second batch', 300],
] as const;

describe('an interrupted import', () => {
  const folder = temporaryFolder();
  const logger = new DetailLogger();
  const timeouts = { handshakeMs: 10_000, headersMs: 2_000, requestMs: 2_000, silenceMs: 5_000 };
  const imports = { total: 2, perClient: 2, maxWaiting: 0, patienceMs: 0 };
  const respondErrors = errors(logger);
  const bounded = responseLimits(new ConcurrencyLimits(1_048_576, { imports }), respondErrors);
  const http = middlewareHarness(
    (ctx, next) => bounded(ctx, () => respondErrors(ctx, () => compression(ctx, next))),
    timeouts,
  );
  let step = async (_name: string): Promise<void> => {};
  let batches = 0;

  const service = {
    reserveStream: () => step('reservation'),
    writer: () => ({
      startAll: async (writes: readonly RecordWrite<Product>[]) => {
        await step(batches++ === 0 ? 'first batch' : 'second batch');
        return writes.map((write, at) => {
          const fields = write.draft()?.fields;
          return { kind: 'created', record: { id: at + 1, version: 1, createdAt: 0, updatedAt: 0, fields } };
        });
      },
    }),
  };
  const resultBuffers = new ResultBuffers({ folder, memoryBytes: 1_000, maxBytes: 1_000_000 });
  const handler = importHandler<Product>(
    {
      resource: PRODUCTS,
      service: service as unknown as RecordService<Product>,
      policy: { bodyLimitBytes: 1_000, requireIfMatch: false },
      tools: { resultBuffers, logger },
      parameters: new ImportParameters(PRODUCTS),
      shown: (_, error) => error,
    },
    NDJSON_IMPORT,
  );

  const importing = (onRequest: (ctx: Context) => void) => (ctx: Context) => {
    batches = 0;
    ctx.state.principal = { id: 'key:1', scopes: [] };
    onRequest(ctx);
    readIdempotencyKey(ctx);
    return handler.handle(ctx, new Map());
  };
  const headers = { 'Content-Type': 'application/x-ndjson', 'Idempotency-Key': 'k' };
  const line = '{"name":"x"}\n';

  for (const coding of ['identity', 'br'])
    it(`does not affect later imports if its client disconnects, with ${coding}`, async () => {
      for (const [lastStep, lines] of DISCONNECTS) {
        const socket = await http.connect();
        const reached = new Promise<void>(
          (resolve) =>
            (http.handler = importing((ctx) => {
              const closed = new Promise((resolve) => ctx.req.once('close', resolve));
              step = async (name) => {
                if (name !== lastStep) return;
                socket.destroy();
                await closed;
                resolve();
              };
            })),
        );
        const head = Object.entries({ ...headers, Host: 'x', 'Accept-Encoding': coding, 'Content-Length': '9999' });
        socket.write(
          `POST / HTTP/1.1\r\n${head.map((field) => `${field.join(': ')}\r\n`).join('')}\r\n${line.repeat(lines)}`,
        );
        await reached;
        http.handler = importing(() => (step = async () => {}));
        const { status, text } = await http.post('/', line, { headers });
        expect([status, text]).to.deep.equal([200, '{"line":1,"status":201,"id":1}\n']);
      }
    });

  for (const [failing, error] of [
    ['first batch', new Error('a defect')],
    ['second batch', new Error('a defect')],
    ['second batch', Object.assign(new Error('an error of MongoDB with its number'), { code: 13 })],
  ] as const)
    it(`is cut off if its ${failing} fails: ${error.message}`, async () => {
      http.handler = importing(
        () =>
          (step = async (name) => {
            if (name === failing) throw error;
          }),
      );
      const refusal = await http.post('/', line.repeat(10_000), { headers }).catch((error) => error);
      expect(refusal).to.be.an('error');
    });

  /** @returns a connection on which an import has begun; only the tests read from it */
  const beginImport = async () => {
    const socket = await http.connect();
    const head = Object.entries({ ...headers, Host: 'x', 'Transfer-Encoding': 'chunked' });
    socket.write(`POST / HTTP/1.1\r\n${head.map((field) => `${field.join(': ')}\r\n`).join('')}\r\n`);
    return socket;
  };
  const importNormally = () => {
    step = async () => {};
    http.handler = importing(() => {});
  };

  it('is cut off if its client leaves more results unread than the buffer holds', async () => {
    importNormally();
    const socket = await beginImport();
    socket.pause();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    const lines = line.repeat(1_000);
    const chunk = `${lines.length.toString(16)}\r\n${lines}\r\n`;
    // Far more than the socket buffers of both ends hold.
    for (let sent = 0; sent < 2_000 && !socket.destroyed; sent++)
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain').catch(() => {}), closed]);
    socket.resume();
    await closed;
    expect((await http.post('/', line, { headers })).status).to.equal(200);
  });

  it('may outlast the request timeout, and is cut off when no more data arrives', async () => {
    importNormally();
    const socket = await beginImport();
    const text = received(socket);
    const lines = 2 * ((timeouts.requestMs + timeouts.headersMs) / 500) + 4;
    for (let sent = 0; sent < lines; sent++) {
      socket.write(`${line.length.toString(16)}\r\n${line}\r\n`);
      await sleep(500);
    }
    const created = (await text).match(/"status":201/g);
    expect(created).to.have.length(lines);
    expect(await text)
      .to.not.include('request_timeout')
      .and.not.match(/\r\n0\r\n\r\n$/);
  });

  it('gets 503 if the maximum number of imports is running', async () => {
    importNormally();
    const sockets = [await beginImport(), await beginImport()];
    for (const socket of sockets) {
      socket.write(`${line.length.toString(16)}\r\n${line}\r\n`);
      await once(socket, 'data');
    }
    const refusal = await http.post('/', line, { headers });
    expect((await expectRefusal(refusal, 'unavailable')).headers['retry-after']).to.equal('1');
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
    for (const socket of sockets) socket.resume().end('0\r\n\r\n');
    await closed;
    expect((await http.post('/', line, { headers })).status).to.equal(200);
  });
});
