import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ChildProcessService } from '../../support/child-process-service.js';
import { FakeRedis } from '../../support/fake-redis.js';
import { freePort } from '../../support/free-port.js';
import type { HttpClient } from '../../support/http-client.js';
import { FIRST_KEY } from '../../support/in-process-service.js';
import { logLines } from '../../support/line-stream.js';
import { OtlpReceiver, type ReceivedSpan } from '../../support/otlp-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const [SERVER, CLIENT] = [2, 3];
const ERROR = 2;
/** Longer than any test: only the end of the process sends spans. */
const NEVER_MS = '3600000';

const traceId = (i: number) => i.toString(16).padStart(32, 'a');
const spanId = (i: number) => i.toString(16).padStart(16, 'b');
const traceparent = (i: number, flags = '01') => ({ traceparent: `00-${traceId(i)}-${spanId(i)}-${flags}` });

describe('traces', () => {
  const folder = temporaryFolder();
  const receiver = new OtlpReceiver();
  let endpoint: string;

  before(async () => {
    endpoint = await receiver.start();
  });
  beforeEach(() => {
    receiver.requests.length = 0;
    receiver.status = 200;
  });
  after(() => receiver.stop());

  /** Starts a service, sends requests, stops it. @returns its log */
  const trace = async (
    environment: Record<string, string>,
    send: (client: HttpClient, service: ChildProcessService) => Promise<unknown>,
  ): Promise<string> => {
    const service = new ChildProcessService(folder, {
      BOOTSTRAP_API_KEY: FIRST_KEY,
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: NEVER_MS,
      ...environment,
    });
    try {
      const client = await service.started(FIRST_KEY);
      await send(client, service);
      client.close();
      expect(await service.stop()).to.deep.equal({ code: 0, signal: null });
    } finally {
      service.kill('SIGKILL');
    }
    return service.log;
  };
  const requestsIn = (log: string) => logLines(log).filter(({ msg }) => msg === 'request');
  const byTrace = () => {
    const traces = new Map<string, ReceivedSpan[]>();
    for (const span of receiver.spans) traces.set(span.traceId, [...(traces.get(span.traceId) ?? []), span]);
    return traces;
  };

  it('have a span of each request and a child for each call of the store', async () => {
    const log = await trace(
      { OTEL_SERVICE_NAME: 'shop', OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test' },
      async (client) => {
        const { id } = (await client.post('/v1/products', { name: 'Lamp', sku: 'a' })).json;
        await client.get(`/v1/products/${id}?fields=name`, { headers: traceparent(1) });
        await client.post('/products', { name: 'Torch', sku: 'b' });
        await client.put(`/products/${id}`, { name: 'Lamp', sku: 'b' });
        await client.get('/nowhere/at/all');
        await client.get('/v1/products', { token: null });
      },
    );
    const servers = receiver.spans.filter(({ kind }) => kind === SERVER);
    expect(servers.map(({ name, values }) => [name, values['http.response.status_code']])).to.deep.equal([
      ['POST /v1/products', 201],
      ['GET /v1/products/{id}', 200],
      ['POST /v1/products', 201],
      ['PUT /v1/products/{id}', 409],
      ['GET', 404],
      ['GET /v1/products', 401],
    ]);
    const lines = requestsIn(log);
    for (const [at, { resource, values, status, events, ...span }] of servers.entries()) {
      expect(resource).to.include({ 'service.name': 'shop', 'deployment.environment.name': 'test' });
      expect(resource).to.include.keys('service.version', 'process.pid', 'telemetry.sdk.name');
      const line = lines[at];
      expect([line.trace_id, line.span_id]).to.deep.equal([span.traceId, span.spanId]);
      const { 'http.route': route, 'http.response.size': size, ...others } = values;
      expect([route ?? 'unknown', Number(size)]).to.deep.equal([line.route, line.responseBytes]);
      expect(others).to.deep.equal({
        'http.request.method': line.method,
        'http.response.status_code': line.status,
        'url.scheme': 'https',
        'url.path': line.path,
        'catalogue.request_id': line.requestId,
      });
      expect([status.code ?? 0, events ?? []]).to.deep.equal([0, []]);
    }
    const [, read] = servers;
    expect([read?.traceId, read?.parentSpanId]).to.deep.equal([traceId(1), spanId(1)]);
    expect(servers[0]?.parentSpanId ?? '').to.equal('');

    const childrenOf = (server: ReceivedSpan | undefined) =>
      receiver.spans.filter(({ parentSpanId }) => parentSpanId === server?.spanId);
    expect(childrenOf(read).map(({ name }) => name)).to.include('find products');
    expect(childrenOf(read).find(({ name }) => name === 'find products')).to.deep.include({
      kind: CLIENT,
      traceId: traceId(1),
      values: { 'db.system.name': 'sqlite', 'db.operation.name': 'find', 'db.collection.name': 'products' },
    });
    expect(childrenOf(servers[3]).map(({ name }) => name)).to.include('replaceAll products');
    expect(childrenOf(servers[4])).to.deep.equal([]);
  });

  it('keep concurrent and pipelined requests apart', async () => {
    const count = 60;
    await trace({}, async (client) => {
      await client.post('/products', { name: 'Lamp' });
      const requests = Array.from({ length: count }, (_, i) => i);
      await Promise.all(
        requests
          .slice(0, count / 2)
          .map((i) => client.post('/products', { name: `${i}` }, { headers: traceparent(i) })),
      );
      const pipelined = requests.slice(count / 2).map((i) => {
        // Every third one is not sampled.
        const { traceparent: header } = traceparent(i, i % 3 === 0 ? '00' : '01');
        const close = i === count - 1 ? 'Connection: close\r\n' : '';
        return `GET /products/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\ntraceparent: ${header}\r\n${close}\r\n`;
      });
      await client.raw(pipelined.join(''));
    });
    const traces = byTrace();
    for (let i = 0; i < count; i++) {
      const spans = traces.get(traceId(i)) ?? [];
      const isSampled = i < count / 2 || i % 3 !== 0;
      expect(
        spans.filter(({ kind }) => kind === SERVER).map(({ parentSpanId }) => parentSpanId),
        `request ${i}`,
      ).to.deep.equal(isSampled ? [spanId(i)] : []);
      const calls = spans.filter(({ name }) => /^(find|insertAll) products$/.test(name));
      expect(calls, `store calls of request ${i}`).to.have.length(isSampled ? 1 : 0);
    }
  });

  it('are sent as protobuf by default, to the address of traces if there is one', async () => {
    await trace(
      {
        OTEL_EXPORTER_OTLP_PROTOCOL: '',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/own/path`,
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      },
      (client) => client.get('/v1/products/1', { headers: traceparent(5) }),
    );
    expect(receiver.requests.map(({ path, type }) => [path, type])).to.deep.equal([
      ['/own/path', 'application/x-protobuf'],
    ]);
    const body = receiver.requests[0]?.body ?? Buffer.alloc(0);
    for (const part of ['product-catalogue-service', 'GET /v1/products/{id}', 'find products'])
      expect(body.includes(part), part).to.equal(true);
    expect(body.includes(Buffer.from(traceId(5), 'hex'))).to.equal(true);
  });

  it('are recorded only as the sampler says; the log has the ids anyway', async () => {
    const log = await trace({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, (client) =>
      client.get('/v1/products', { headers: traceparent(6) }),
    );
    expect(receiver.requests).to.deep.equal([]);
    const [line] = requestsIn(log);
    expect(line.trace_id).to.equal(traceId(6));
    expect(line.span_id)
      .to.match(/^[0-9a-f]{16}$/)
      .and.not.equal(spanId(6));
  });

  it('have a child for each call of Redis', async () => {
    const redis = new FakeRedis();
    await redis.listen();
    try {
      await trace({ RATE_LIMITER: 'redis', REDIS_URL: redis.url }, async (client) => {
        await until('Redis counts', async () => {
          await client.get('/v1/products');
          return redis.received.has('evalsha');
        });
        await client.get('/v1/products', { headers: traceparent(8) });
      });
    } finally {
      await redis.close();
    }
    const server = receiver.spans.find(({ kind, traceId: id }) => kind === SERVER && id === traceId(8));
    const children = receiver.spans.filter(({ parentSpanId }) => parentSpanId === server?.spanId);
    const calls = children.filter(({ values }) => values['db.system.name'] === 'redis');
    expect(calls.map(({ name, kind }) => [name, kind])).to.deep.equal([['consume default', CLIENT]]);
    expect(calls[0]?.values).to.not.include.keys('db.collection.name', 'error.type');
  });

  it('of a failing store are errors', async () => {
    await trace({ SQLITE_FILE: 'lost.sqlite' }, async (client) => {
      renameSync(join(folder, 'lost.sqlite'), join(folder, 'renamed.sqlite'));
      const { status } = await client.post('/products', { name: 'Lamp' }, { headers: traceparent(7) });
      expect(status).to.equal(503);
    });
    const [server] = receiver.spans.filter(({ kind, traceId: id }) => kind === SERVER && id === traceId(7));
    expect(server?.status).to.deep.equal({ code: ERROR });
    expect(server?.values['error.type']).to.equal('503');
    const children = receiver.spans.filter(({ parentSpanId }) => parentSpanId === server?.spanId);
    const failed = children.find(({ status }) => status.code === ERROR);
    expect(failed?.values).to.include({ 'db.system.name': 'sqlite', 'error.type': 'unavailable' });
  });

  for (const [what, prepare] of [
    ['that is down', async () => `http://127.0.0.1:${await freePort()}`],
    [
      'that never responds',
      async () => {
        receiver.status = undefined;
        return endpoint;
      },
    ],
    [
      'that refuses them',
      async () => {
        receiver.status = 401;
        return endpoint;
      },
    ],
  ] as const)
    it(`break nothing and delay no end with a collector ${what}`, async () => {
      const environment = {
        OTEL_EXPORTER_OTLP_ENDPOINT: await prepare(),
        OTEL_EXPORTER_OTLP_TIMEOUT: NEVER_MS,
        OTEL_BSP_EXPORT_TIMEOUT: NEVER_MS,
        OTEL_BSP_SCHEDULE_DELAY: '10',
        OTEL_BSP_MAX_QUEUE_SIZE: '8',
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4',
      };
      const log = await trace(environment, async (client, service) => {
        for (let i = 0; i < 50; i++) expect((await client.get('/v1/products')).status).to.equal(200);
        if (receiver.status === 401) await service.logs(/traces cannot be exported/);
      });
      expect(requestsIn(log)).to.have.length(50);
      expect(log.split('\n').filter((line) => line.includes('cannot be exported')).length).to.be.at.most(1);
    });

  it('are off, with one line that says why, if a variable is wrong', async () => {
    const log = await trace({ OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://ann:correct-horse@127.0.0.1' }, (client) =>
      client.get('/v1/products'),
    );
    const [line] = log.split('\n').filter((one) => one.includes('traces are off'));
    expect(JSON.parse(line ?? '')).to.include({
      level: 'warn',
      reason: 'OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address',
    });
    expect(log).to.not.include('correct-horse');
    expect(requestsIn(log)[0]).to.not.have.any.keys('trace_id', 'span_id');
  });
});
