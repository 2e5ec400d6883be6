import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { unavailable } from '#src/domain/errors.js';
import { expectRefusal, type HttpClient, type HttpResponse, received, statusesIn } from '../support/http-client.js';
import { FIRST_KEY, type InProcessService, inProcessService } from '../support/in-process-service.js';
import { linksOf } from '../support/links.js';
import { middlewareHarness } from '../support/middleware-harness.js';
import { until } from '../support/until.js';

const CHANGES = '/v1/products/changes';

const nextOf = ({ headers }: { headers: Record<string, unknown> }) => linksOf(headers['link'])['next'] ?? '';
const placeNow = async (client: HttpClient, token = FIRST_KEY) => nextOf(await client.get(CHANGES, { token }));
const waitAt = (client: HttpClient, place: string, seconds: number | string, token = FIRST_KEY) =>
  client.get(place, { token, headers: { Prefer: `wait=${seconds}` } });
const waiting = ({ application }: InProcessService) => application.limits.figures('waits').inUse;
const requestOf = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\nPrefer: wait=30\r\n\r\n`;
const startRaw = async (client: HttpClient, place: string): Promise<Socket> => {
  const socket = await client.connect();
  socket.write(requestOf(place));
  return socket;
};
const shown = ({ status, json }: HttpResponse) => (status === 200 ? json.length : json.code);
const outcome = (one: HttpResponse) => [one.status, shown(one), one.headers['preference-applied']];

describe('a wait for a change', () => {
  const service = inProcessService();
  const untilWaiting = (count: number) => until(`${count} wait`, () => waiting(service) === count);
  const keyWith = async (...scopes: string[]) =>
    (await service.post('/v1/api-keys', { name: 'reader', scopes })).json as { id: number; key: string };

  afterEach(() => untilWaiting(0));

  it('ends with the first change, also of those who wait for NDJSON', async () => {
    const place = await placeNow(service.client);
    const waits = [
      waitAt(service.client, place, 30),
      waitAt(service.client, place, 30),
      service.get(place.replace('limit=100&', ''), { headers: { Prefer: 'wait=30', Accept: 'application/x-ndjson' } }),
    ];
    await untilWaiting(3);
    const { id } = (await service.post('/v1/products', { name: 'Lamp' })).json;
    const expected = { id, name: 'Lamp', version: 1 };
    const responses = await Promise.all(waits);
    for (const { status, text, headers } of responses) {
      expect([status, JSON.parse(text).at?.(0) ?? JSON.parse(text)]).to.deep.equal([200, expected]);
      expect(headers['preference-applied']).to.equal('wait=30');
    }
    const [first] = responses as [HttpResponse];
    expect((await service.get(nextOf(first))).json).to.deep.equal([]);
  });

  it('is none if there is a change already, if no time is given or if there is no cursor', async () => {
    const place = await placeNow(service.client);
    expect(outcome(await waitAt(service.client, place, 0))).to.deep.equal([200, 0, 'wait=0']);
    await service.post('/v1/products', { name: 'Lamp' });
    expect(outcome(await waitAt(service.client, place, 30))).to.deep.equal([200, 1, 'wait=30']);
    expect(outcome(await waitAt(service.client, CHANGES, 30))).to.deep.equal([200, 0, undefined]);
  });

  it('is at most 30 seconds, and ignores what is no number', async () => {
    const place = await placeNow(service.client);
    await service.post('/v1/products', { name: 'Lamp' });
    for (const [prefer, applied] of [
      ['wait=31', 'wait=30'],
      [`wait=${'9'.repeat(400)}`, 'wait=30'],
      ['Wait="7"', 'wait=7'],
      ['return=minimal, wait=007;x=1', 'wait=7'],
      ['wait=1.5', undefined],
      ['wait=-1', undefined],
      ['wait', undefined],
      ['wait=x', undefined],
    ]) {
      const response = await service.get(place, { headers: { Prefer: `${prefer}` } });
      expect(outcome(response), prefer).to.deep.equal([200, 1, applied]);
    }
  });

  it('has eight places for each principal', async () => {
    const { key } = await keyWith('products:read');
    const place = await placeNow(service.client);
    const waits = Array.from({ length: 8 }, () => waitAt(service.client, place, 30, key));
    await untilWaiting(8);
    const refused = await waitAt(service.client, place, 30, key);
    expect((await expectRefusal(refused, 'unavailable')).headers['retry-after']).to.equal('1');
    expect(outcome(await service.get(place, { token: key })), 'without waiting').to.deep.equal([200, 0, undefined]);
    expect(outcome(await waitAt(service.client, place, 0, key)), 'without time').to.deep.equal([200, 0, 'wait=0']);
    const other = waitAt(service.client, place, 30);
    await untilWaiting(9);
    await service.post('/v1/products', { name: 'Lamp' });
    for (const response of await Promise.all([...waits, other]))
      expect(outcome(response)).to.deep.equal([200, 1, 'wait=30']);
    expect(outcome(await waitAt(service.client, place, 30, key))).to.deep.equal([200, 1, 'wait=30']);
  });

  it('frees its place if the client disconnects', async () => {
    const socket = await startRaw(service.client, await placeNow(service.client));
    await untilWaiting(1);
    socket.destroy();
    await untilWaiting(0);
  });

  it('lets the requests behind it wait', async () => {
    const place = await placeNow(service.client);
    const socket = await startRaw(service.client, place);
    const text = received(socket, /404 Not Found[\s\S]*\}$/);
    await untilWaiting(1);
    socket.write(requestOf('/v1/products/99999'));
    await service.post('/v1/products', { name: 'Lamp' });
    expect(statusesIn(await text)).to.deep.equal(['200', '404 not_found']);
  });

  it('ends with 503 if the store fails, and with 410 if changes go missing', async () => {
    const feed = service.application.storage.changes.products;
    const { read } = feed;
    const place = await placeNow(service.client);
    const failing = waitAt(service.client, place, 30);
    await untilWaiting(1);
    feed.read = async () => {
      throw unavailable('The store is down.');
    };
    expect((await failing).json.code).to.equal('unavailable');
    feed.read = read;
    const expiring = waitAt(service.client, place, 30);
    await untilWaiting(1);
    await service.application.feedState.reset();
    expect((await expiring).json.code).to.equal('cursor_expired');
  });

  it('ends with 401 soon after its key is revoked, and before it shows a change', async () => {
    for (const change of [() => undefined, () => service.post('/v1/products', { name: 'Secret' })]) {
      const { id, key } = await keyWith('products:read');
      const wait = waitAt(service.client, await placeNow(service.client), 30, key);
      await untilWaiting(1);
      await service.delete(`/v1/api-keys/${id}`);
      await change();
      const { status, text } = await wait;
      expect([status, JSON.parse(text).code]).to.deep.equal([401, 'invalid_token']);
    }
  });

  it('is one request to the rate limiter, and no request in progress of the metrics', async () => {
    const place = await placeNow(service.client);
    const before = Number(/r=(\d+)/.exec(String((await service.get(place)).headers['ratelimit']))?.[1]);
    const wait = waitAt(service.client, place, 30);
    await untilWaiting(1);
    const metrics = await service.application.metrics.text();
    expect(metrics).to.match(/^http_server_active_requests 0$/m);
    expect(metrics).to.match(/^work_in_progress\{work="waits"\} 1$/m);
    await service.post('/v1/products', { name: 'Lamp' });
    const after = Number(/r=(\d+)/.exec(String((await wait).headers['ratelimit']))?.[1]);
    expect(before - after).to.equal(1);
  });

  it('is not in the durations of requests', async () => {
    const path = '/v1/orders/changes';
    const place = nextOf(await service.get(path));
    await service.get(place, { headers: { Prefer: 'wait=1' } });
    await until('both are counted', async () => {
      const text = await service.application.metrics.text();
      const series = `http_request_method="GET",http_route="${path}",http_response_status_code="200"`;
      const bucket = (le: string) =>
        Number(text.match(new RegExp(`_bucket\\{${series},le="${le.replace('+', '\\+')}"\\} (\\d+)`))?.[1]);
      return bucket('+Inf') === 2 && bucket('1') === 2;
    });
  });
});

describe('a service that stops while clients wait', () => {
  const service = inProcessService();

  it('responds at once, closes their connections, and lets nobody wait any more', async () => {
    const place = await placeNow(service.client);
    const waits = [waitAt(service.client, place, 30), waitAt(service.client, place, 30)];
    const behind = await startRaw(service.client, place);
    const text = received(behind);
    await until('all wait', () => waiting(service) === 3);
    behind.write(requestOf(place));
    await service.stop();
    for (const response of await Promise.all(waits)) {
      expect(outcome(response)).to.deep.equal([200, 0, 'wait=30']);
      expect(response.headers.connection).to.equal('close');
      expect(nextOf(response)).to.not.equal('');
    }
    for (const status of statusesIn(await text)) expect(status).to.equal('200');
  });
});

describe('a connection on which a request waits for a change', () => {
  const silent = middlewareHarness((_ctx, next) => next());

  it('stays open although no byte is sent for long', async () => {
    silent.handler = async (ctx) => {
      await buffer(ctx.req);
      ctx.req.socket.emit('timeout');
      ctx.status = 204;
    };
    expect((await silent.get('/')).status).to.equal(204);
  });
});
