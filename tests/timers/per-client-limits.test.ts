import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ConcurrencyLimits } from '#src/adapters/inbound/http/core/concurrency-limits.js';
import type { Middleware } from '#src/adapters/inbound/http/core/context.js';
import { listOperation } from '#src/adapters/inbound/http/lists/list-operation.js';
import { responseLimits, type SendingLimits } from '#src/adapters/inbound/http/middleware/limits.js';
import { errors } from '#src/adapters/inbound/http/pipeline/app.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/definitions.js';
import type { ListQuery } from '#src/application/ports/list-query.js';
import { unavailable } from '#src/domain/errors.js';
import { expectRefusal, HttpClient } from '../support/http-client.js';
import { FIRST_KEY, type InProcessService, inProcessService } from '../support/in-process-service.js';
import { DetailLogger, listService, middlewareHarness } from '../support/middleware-harness.js';
import { Scrape } from '../support/scrape.js';
import { until } from '../support/until.js';

const LINES = { 'Content-Type': 'application/x-ndjson' };
const MIB = 1_024 * 1_024;
const HOUR_MS = 3_600_000;
const respondErrors = errors(new DetailLogger());

describe('the concurrent work of one client', () => {
  const service = inProcessService();
  const sockets: Socket[] = [];
  let one: string;
  let other: string;

  before(async () => {
    const scopes = ['products:read', 'products:write'];
    const keys = [1, 2].map((name) => service.post('/v1/api-keys', { name: `${name}`, scopes }));
    [one = '', other = ''] = (await Promise.all(keys)).map(({ json }) => json.key);
    const description = 'd'.repeat(5_000);
    const lines = Array.from({ length: 400 }, () => `${JSON.stringify({ name: 'x', description })}\n`);
    await service.post('/v1/products/imports', lines.join(''), { headers: LINES });
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** Sends the beginning of a request over its own connection and does not read the response. */
  const begin = async (token: string, method: string, fields: readonly string[], body = '') => {
    const socket = await service.connect();
    sockets.push(socket);
    socket.on('error', () => {});
    const head = [`${method} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`, ...fields];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    return socket;
  };
  const beginAll = (count: number, ...[token, method, fields, body]: Parameters<typeof begin>) =>
    Promise.all(Array.from({ length: count }, () => begin(token, method, fields, body)));

  it('counts no import that waits for its client, be it a dry run', async () => {
    for (const query of ['', '?dryRun=true']) {
      const open = await beginAll(
        20,
        one,
        `POST /v1/products/imports${query}`,
        ['Content-Type: application/x-ndjson', 'Transfer-Encoding: chunked'],
        'd\r\n{"name":"x"}\n\r\n3\r\n{"n\r\n',
      );
      await Promise.all(open.map((socket) => once(socket, 'data')));
      for (const token of [one, other]) {
        const lines = '{"name":"x"}\n'.repeat(300);
        const { status, text } = await service.post(`/v1/products/imports${query}`, lines, { token, headers: LINES });
        expect([status, text.match(/"status":201/g)?.length]).to.deep.equal([200, 300]);
      }
    }
  });

  it('is at most 8 exports: the ninth gets 503 immediately, another client can export', async () => {
    const open = await beginAll(8, one, 'GET /v1/products', ['Accept: application/x-ndjson']);
    await Promise.all(open.map((socket) => once(socket, 'readable')));
    const accept = { headers: { Accept: 'application/x-ndjson' } };
    const refused = await service.get('/v1/products', { token: one, ...accept });
    expect((await expectRefusal(refused, 'unavailable')).headers['retry-after']).to.equal('1');
    expect((await service.get('/v1/products', { token: other, ...accept })).status).to.equal(200);
  });

  it('is at most 8 MiB of bodies: the next waits, small bodies and other clients do not', async () => {
    const large = `{"name":"x"}${' '.repeat(MIB - 12)}`;
    const fields = ['Content-Type: application/json', `Content-Length: ${MIB}`];
    const begun = large
      .slice(1)
      .replace('"name"', '{"name"')
      .slice(0, MIB - 1);
    const open = await beginAll(8, one, 'POST /v1/products', fields, begun);
    await untilWork(service, 'bodies', 'the bodies are being read', ({ inUse }) => inUse === 8 * MIB);
    let isDone = false;
    const waiting = service.post('/v1/products', large, { token: one }).finally(() => (isDone = true));
    await untilWork(service, 'bodies', 'the next one waits', ({ waiting: count }) => count === 1);
    expect((await service.post('/v1/products', large, { token: other })).status).to.equal(201);
    expect((await service.post('/v1/products', { name: 'small' }, { token: one })).status).to.equal(201);
    expect(isDone).to.equal(false);
    open[0]?.end(' ');
    expect((await waiting).status).to.equal(201);
  });
});

describe('unread responses', () => {
  /** More than the socket buffers of both ends hold, so that the rest stays in the service. */
  const LARGE = 16 * MIB;
  const limits = { total: 3 * LARGE, perClient: 2 * LARGE, maxWaiting: 1, patienceMs: HOUR_MS };
  const bounds = new ConcurrencyLimits(1_048_576, { responses: limits });
  const service = middlewareHarness(responseLimits(bounds, respondErrors));
  before(
    () =>
      (service.handler = (ctx) => {
        ctx.state.principal = { id: ctx.get('X-Client'), scopes: [] };
        ctx.body = 'x'.repeat(ctx.path === '/small' ? 16_384 : LARGE);
      }),
  );
  /** Sends a request over its own connection and does not read the response. */
  const requestUnread = async (client: string) => {
    const socket = await service.connect();
    socket.on('error', () => {});
    socket.pause();
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Client: ${client}\r\n\r\n`);
    return socket;
  };
  const get = (client: string, path = '/') => service.get(path, { headers: { 'X-Client': client } });

  it('are limited in bytes for each client and in total, except small ones', async () => {
    const sockets = await Promise.all([requestUnread('a'), requestUnread('a')]);
    const figures = () => bounds.figures('responses');
    await until('both responses are being sent', () => figures().inUse === 2 * LARGE);
    const first = get('a');
    await until('the next one waits', () => figures().waiting === 1);
    await expectRefusal(get('a'), 'unavailable');
    expect((await get('a', '/small')).status).to.equal(200);
    expect((await get('b')).status).to.equal(200);
    for (const socket of sockets) socket.destroy();
    expect((await first).status).to.equal(200);
  });
});

describe('a large error', () => {
  const responses = { total: MIB, perClient: MIB, maxWaiting: 0, patienceMs: 0 };
  const bounds = new ConcurrencyLimits(1_000, { responses });
  const service = listService('', bounds);

  it('counts as a response, so it is 503 if no permit is left; small errors do not count', async () => {
    const get = (unknownParameters: number) =>
      service.get(`/v1/products?${'%01%01%01&'.repeat(unknownParameters)}`, { token: null });
    const other = { res: { closed: false }, state: { address: 'elsewhere', permits: [] } };
    const everything = await bounds.acquire(other as never, 'responses', MIB);
    const refused = await get(100);
    expect(refused.json).to.deep.include({ code: 'unavailable', details: [] });
    expect([refused.status, refused.headers['retry-after']]).to.deep.equal([503, '1']);
    expect((await get(1)).status).to.equal(400);
    everything.release();
    const large = await get(100);
    expect(large.bytes.length).to.be.above(16 * 1_024);
    expect([large.status, large.json.details.length]).to.deep.equal([400, 100]);
    await until('its permit is released', () => bounds.figures('responses').inUse === 0);
  });
});

describe('an error in the place of a compressed response', () => {
  const service = middlewareHarness(respondErrors);

  it('is not described as compressed', async () => {
    service.handler = async (ctx) => {
      ctx.set('Content-Encoding', 'gzip');
      throw unavailable('No permit is left.');
    };
    const { status, headers, json } = await service.get('/');
    expect([status, headers['content-encoding'], json.code]).to.deep.equal([503, undefined, 'unavailable']);
  });
});

describe('an error that is larger than the permit of the record', () => {
  const bounds = new ConcurrencyLimits(1_000);
  const service = middlewareHarness(responseLimits(bounds, respondErrors));

  it('counts with its own size', async () => {
    const inUse: number[] = [];
    service.handler = async (ctx) => {
      ctx.state.address = 'here';
      await bounds.reserveResponse(ctx, 20_000);
      ctx.res.once('finish', () => inUse.push(bounds.figures('responses').inUse));
      if (ctx.path === '/error') ctx.state.errorCode = 'validation_failed';
      ctx.body = 'x'.repeat(ctx.path === '/error' ? 50_000 : 15_000);
    };
    for (const path of ['/record', '/error']) await service.get(path);
    expect(inUse).to.deep.equal([15_000, 50_000]);
    await until('nothing is in use', () => bounds.figures('responses').inUse === 0);
  });
});

describe('pages that are being read', () => {
  const MAX_PAGE = 4 * MIB;
  const responses = { total: 3 * MAX_PAGE, perClient: 2 * MAX_PAGE, maxWaiting: 10, patienceMs: HOUR_MS };
  const service = middlewareHarness(responseLimits(new ConcurrencyLimits(1_048_576, { responses }), respondErrors));

  it('wait before they are read if their client has reached its limit', async () => {
    const reading: string[] = [];
    let finish = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const list = async ({ task }: ListQuery) => {
      reading.push(task?.client ?? '');
      await finished;
      return { records: [], hasMore: false };
    };
    const records = { list, count: async () => 0, pages: async function* () {} };
    const work = listOperation(PRODUCTS, records, { cacheControl: 'no-store' });
    service.handler = (ctx) => {
      ctx.state.principal = { id: ctx.get('X-Client'), scopes: [] };
      ctx.state.addressOf = (path) => path;
      return work.handle(ctx, new Map());
    };
    const get = (client: string, path: string) => service.get(path, { headers: { 'X-Client': client } });
    const pages = [get('a', '/'), get('a', '/'), get('a', '/'), get('a', '/')];
    await until('two pages of one client are read', async () => {
      expect(reading).to.deep.equal(['a', 'a']);
    });
    const others = get('b', '/');
    await until('the page of the other client is read too', async () => {
      expect(reading).to.deep.equal(['a', 'a', 'b']);
    });
    finish();
    for (const { status, text } of await Promise.all([...pages, others]))
      expect([status, text]).to.deep.equal([200, '[]']);
    expect(reading).to.have.length(5);
  });
});

describe('a request that waits', () => {
  const responses = { total: 1, perClient: 1, maxWaiting: 10, patienceMs: HOUR_MS };
  const bounds = new ConcurrencyLimits(1_048_576, { responses });
  const service = middlewareHarness(responseLimits(bounds, respondErrors));

  it('is not carried out if its client has disconnected', async () => {
    const begun: string[] = [];
    const finish: (() => void)[] = [];
    let waiting = 0;
    let hasGone = false;
    service.handler = async (ctx) => {
      ctx.state.address = 'here';
      waiting++;
      if (ctx.path === '/gone') ctx.res.once('close', () => (hasGone = true));
      await bounds.acquire(ctx, 'responses');
      begun.push(ctx.path);
      await new Promise<void>((resolve) => finish.push(resolve));
      ctx.body = 'x';
    };
    const first = service.get('/first');
    await until('the first request is carried out', async () => {
      expect(begun).to.deep.equal(['/first']);
    });
    const socket = await service.connect();
    socket.write('GET /gone HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('two requests wait', async () => {
      expect(waiting).to.equal(2);
    });
    socket.destroy();
    await until('the service has noticed it', () => hasGone);
    const last = service.get('/last');
    await until('three requests have arrived', async () => {
      expect(waiting).to.equal(3);
    });
    finish.shift()?.();
    await first;
    await until('the last is carried out', async () => {
      expect(begun).to.deep.equal(['/first', '/last']);
    });
    finish.shift()?.();
    await last;
  });
});

describe('work for a client that has disconnected', () => {
  const exports = { total: 1, perClient: 1, maxWaiting: 0, patienceMs: 0 };
  const bounds = new ConcurrencyLimits(MIB, { exports });
  const service = middlewareHarness(responseLimits(bounds, respondErrors));

  it('counts against the limit until it ends', async () => {
    let end = () => {};
    let hasBegun = false;
    let hasGone = false;
    service.handler = async (ctx) => {
      ctx.state.address = 'here';
      if (ctx.path === '/work') {
        ctx.res.once('close', () => (hasGone = true));
        await bounds.acquire(ctx, 'exports');
        hasBegun = true;
        await new Promise<void>((resolve) => (end = resolve));
      } else {
        const permit = await Promise.resolve(bounds.acquire(ctx, 'exports')).catch(() => undefined);
        ctx.body = permit ? 'accepted' : 'refused';
      }
    };
    const socket = await service.connect();
    socket.write('GET /work HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('the request is begun', async () => {
      expect(hasBegun).to.equal(true);
    });
    socket.destroy();
    await until('the service has noticed it', () => hasGone);
    expect((await service.get('/')).text).to.equal('refused');
    end();
    await until('another request is served', async () => {
      expect((await service.get('/')).text).to.equal('accepted');
    });
  });
});

describe('a write whose response exceeds the memory limit', () => {
  const service = inProcessService();

  it('is either rejected without writing, or completed with a normal response', async () => {
    const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 'v'.repeat(400)]));
    const fields = { name: 'x', description: 'd'.repeat(5_000), attributes };
    const { json: stored } = await service.post('/v1/products', fields);
    const lines = `${JSON.stringify({ name: 'large', description: '€'.repeat(5_000), attributes })}\n`.repeat(150);
    await service.post('/v1/products/imports', lines, { headers: LINES });
    const sockets: Socket[] = [];
    // Unread pages use up all that this client may have.
    for (let page = 0; page < 40; page++) {
      const socket = await service.connect();
      sockets.push(socket.on('error', () => {}));
      socket.write(
        `GET /v1/products?limit=1000 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\n\r\n`.repeat(4),
      );
    }
    await untilWork(service, 'responses', 'some pages wait', ({ waiting }) => waiting > 0);
    const writes = await Promise.all([
      service.patch(`/v1/products/${stored.id}`, { sku: 'patched' }),
      service.put('/v1/products/sku/put', fields),
      service.post('/v1/products', { ...fields, sku: 'posted' }),
    ]);
    for (const socket of sockets) socket.destroy();
    for (const [at, sku] of ['patched', 'put', 'posted'].entries()) {
      const { status, headers, json } = writes[at] ?? expect.fail();
      const { json: written } = await service.get(`/v1/products?sku=${sku}&fields=sku`);
      if (status === 503) expect([sku, headers.etag, written]).to.deep.equal([sku, undefined, []]);
      else expect([written, json.sku]).to.deep.equal([[{ sku }], sku]);
    }
  });
});

/** Limits the time of sending a response, of any size. */
function sentWithin(sending: SendingLimits): Middleware {
  const responses = { total: 64 * MIB, perClient: 64 * MIB, maxWaiting: 0, patienceMs: 0 };
  return responseLimits(new ConcurrencyLimits(MIB, { responses }), respondErrors, sending);
}

describe('a response that is read too slowly', () => {
  const service = middlewareHarness(sentWithin({ graceMs: 100, bytesPerMs: 1_000_000 }));

  it('is cut off with its connection, even if the client keeps reading', async () => {
    service.handler = (ctx) => {
      ctx.body = Buffer.alloc(64 * MIB, 'x');
    };
    const socket = await service.connect();
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    let bytes = 0;
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 20);
    });
    await closed;
    expect(bytes).to.be.below(32 * MIB);
  });

  it('may take any time if it is a stream', async () => {
    service.handler = (ctx) => {
      ctx.body = slowStream();
    };
    expect((await service.get('/')).text).to.equal('x'.repeat(5));
  });
});

describe('a response that is read in time', () => {
  const service = middlewareHarness(sentWithin({ graceMs: HOUR_MS, bytesPerMs: 1 }));

  it('leaves no timer if its client disconnects before it is ready', async () => {
    let hasBegun = false;
    let isReady = false;
    service.handler = async (ctx) => {
      hasBegun = true;
      await once(ctx.res, 'close');
      ctx.body = Buffer.alloc(MIB, 'x');
      isReady = true;
    };
    const socket = await service.connect();
    // Measured as later: a wait has a timer of its own.
    let before = 0;
    await until('the timers are counted', () => {
      before = pendingTimers();
      return true;
    });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('the request is begun', () => hasBegun);
    socket.destroy();
    await until('the response is ready', async () => {
      expect(isReady).to.equal(true);
    });
    // The timer of the response would stay for an hour; others, of sockets that close, end soon.
    await until('no timer is left', () => pendingTimers() <= before);
  });
});

/** Waits until the limited work of a service is as described, by its metrics. */
async function untilWork(
  { managementPort }: InProcessService,
  work: 'bodies' | 'responses',
  description: string,
  isReached: (figures: { readonly inUse: number; readonly waiting: number }) => boolean,
): Promise<void> {
  const management = new HttpClient(managementPort, undefined, '');
  await until(description, async () => {
    const scrape = new Scrape((await management.get('/metrics', { token: null })).text);
    const [inUse, waiting] = ['work_in_progress_bytes', 'work_waiting'].map((name) => scrape.sum(name, { work }));
    return isReached({ inUse: inUse ?? 0, waiting: waiting ?? 0 });
  });
  management.close();
}

/** @returns the number of pending timers */
function pendingTimers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}

/** @returns a stream that takes longer than the limit for other responses */
function slowStream(): NodeJS.ReadableStream {
  async function* pieces() {
    for (let piece = 0; piece < 5; piece++) {
      await sleep(100);
      yield 'x';
    }
  }
  return Readable.from(pieces(), { objectMode: false });
}
