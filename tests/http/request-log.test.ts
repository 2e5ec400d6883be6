import { expect } from 'chai';
import type { TraceIds } from '#src/application/ports/observer.js';
import { listService } from '../support/middleware-harness.js';
import { until } from '../support/until.js';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';

describe('the log of requests', () => {
  const service = listService();

  /** Sends requests on one connection. @returns their log entries, and the bytes of the responses */
  const logged = async (...requests: { target?: string; method?: string; headers?: readonly string[] }[]) => {
    const before = entries().length;
    const messages = requests.map(({ method = 'GET', target = '/v1/products', headers = [] }, at) => {
      const close = at === requests.length - 1 ? ['Connection: close'] : [];
      return [`${method} ${target} HTTP/1.1`, 'Host: x', ...headers, ...close, '', ''].join('\r\n');
    });
    const bytes = await service.raw(messages.join(''));
    await until('all are logged', () => entries().length === before + requests.length);
    return { entries: entries().slice(before), bytes };
  };
  const entries = () => service.logger.lines.filter(({ event }) => event === 'request').map(({ details }) => details);

  for (const [what, headers, isRead] of [
    ['of version 00', [`traceparent: 00-${TRACE_ID}-${SPAN_ID}-01`], true],
    ['that is not sampled', [`traceparent: 00-${TRACE_ID}-${SPAN_ID}-00`], true],
    ['with unknown flags', [`traceparent: 00-${TRACE_ID}-${SPAN_ID}-ff`], true],
    ['with spaces around it', [`traceparent:  00-${TRACE_ID}-${SPAN_ID}-01  `], true],
    ['of a later version', [`traceparent: cc-${TRACE_ID}-${SPAN_ID}-01`], true],
    ['of a later version with more', [`traceparent: cc-${TRACE_ID}-${SPAN_ID}-01-what-is-this`], true],
    ['with a malformed tracestate', [`traceparent: 00-${TRACE_ID}-${SPAN_ID}-01`, 'tracestate: ='], true],
    ['of version 00 with more', [`traceparent: 00-${TRACE_ID}-${SPAN_ID}-01-x`], false],
    ['of version 00 with a hyphen behind it', [`traceparent: 00-${TRACE_ID}-${SPAN_ID}-01-`], false],
    ['of a later version without a hyphen', [`traceparent: cc-${TRACE_ID}-${SPAN_ID}-01x`], false],
    ['of version ff', [`traceparent: ff-${TRACE_ID}-${SPAN_ID}-01`], false],
    ['with capital letters', [`traceparent: 00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`], false],
    ['whose trace id is all zero', [`traceparent: 00-${'0'.repeat(32)}-${SPAN_ID}-01`], false],
    ['whose span id is all zero', [`traceparent: 00-${TRACE_ID}-${'0'.repeat(16)}-01`], false],
    ['whose trace id is short', [`traceparent: 00-${TRACE_ID.slice(1)}-${SPAN_ID}-01`], false],
    ['whose span id is long', [`traceparent: 00-${TRACE_ID}-${SPAN_ID}0-01`], false],
    ['without flags', [`traceparent: 00-${TRACE_ID}-${SPAN_ID}`], false],
    ['that is empty', ['traceparent:'], false],
    ['that is sent twice', Array(2).fill(`traceparent: 00-${TRACE_ID}-${SPAN_ID}-01`), false],
    ['that is absent', [`tracestate: a=${TRACE_ID}`], false],
  ] as const)
    it(`${isRead ? 'has the ids of' : 'ignores'} a traceparent ${what}`, async () => {
      const [entry] = (await logged({ headers })).entries;
      expect(entry).to.have.property('status', 200);
      const { traceId, spanId } = (entry?.['trace'] ?? {}) as Partial<TraceIds>;
      expect([traceId, spanId]).to.deep.equal(isRead ? [TRACE_ID, SPAN_ID] : [undefined, undefined]);
    });

  it('has the ids of the request in the lines of its errors', async () => {
    service.records.before = () => {
      throw new Error('broken');
    };
    const headers = [`traceparent: 00-${TRACE_ID}-${SPAN_ID}-01`, 'X-Request-Id: mine'];
    await logged({ headers });
    const [line] = service.logger.lines.filter(({ event }) => event === 'internal_error');
    expect(line?.details).to.deep.include({ requestId: 'mine', trace_id: TRACE_ID, span_id: SPAN_ID });
  });

  it('counts the bytes of each response, its head included', async () => {
    await service.records.fill(300, { description: 'x'.repeat(1_000) });
    const requests = [
      { target: '/v1/products/7' },
      { method: 'HEAD' },
      { headers: ['Accept: application/x-ndjson'] },
      { target: '/v1/products?limit=1000' },
      { target: '/none' },
      { method: 'OPTIONS' },
    ];
    for (const request of requests) {
      const { bytes, entries } = await logged(request);
      expect(entries[0]?.['responseBytes'], JSON.stringify(request)).to.equal(Buffer.byteLength(bytes));
    }
    const { bytes, entries } = await logged(...requests.filter(({ headers }) => headers === undefined));
    const sizes = entries.map((entry) => entry['responseBytes'] as number);
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.equal(Buffer.byteLength(bytes));
    expect(Math.max(...sizes)).to.be.greaterThan(300_000);
    expect(Math.min(...sizes)).to.be.lessThan(2_000);
  });

  it('shows the path of a route, and of any other path only the words of the API', async () => {
    const secret = 'correct-horse-1';
    const shown = {
      '/v1/products/7?q=x': '/v1/products/{id} /v1/products/7',
      [`/products?${secret}`]: '/v1/products /products',
      [`/v1/products/${secret}`]: 'unknown /v1/products/*',
      '/v1/products/99999999999999999': 'unknown /v1/products/*',
      [`/${secret}/products/${secret}`]: 'unknown /*/products/*',
      [`//${secret}@v1/products/imports/`]: 'unknown //*/products/imports/',
      [`/${'x/'.repeat(500)}${secret}`]: 'unknown /*/*/*/*/*/*/*/*',
    };
    const { entries } = await logged(...Object.keys(shown).map((target) => ({ target })));
    expect(entries.map(({ route, path }) => `${route} ${path}`)).to.deep.equal(Object.values(shown));
  });

  it('shows the template of a record by a unique field, whose value may be personal', async () => {
    const template = '/v1/products/sku/{sku}';
    const broken = 'SECRET-9';
    const find = service.records.findByUnique.bind(service.records);
    service.records.findByUnique = (field, value) => {
      if (value === broken) throw new Error('broken');
      return find(field, value);
    };
    await service.records.fill(1, { sku: 'SECRET-1' });
    const { entries } = await logged(
      { target: '/v1/products/sku/SECRET-1' },
      { target: '/products/sku/%53ECRET-1', method: 'HEAD' },
      { target: '/v1/products/sku/SECRET-2' },
      { target: '/v1/products/sku/SECRET-1', method: 'POST', headers: ['Content-Length: 0'] },
      { target: '/v1/products/sku/SECRET-1', method: 'DELETE' },
      { target: '/products/sku/SECRET-1', method: 'OPTIONS' },
      { target: '/products/sku/SECRET-1', headers: ['API-Version: 9'] },
      { target: `/v1/products/sku/${broken}` },
      { target: '/v1/products/sku/SECRET%20' },
      { target: '/v99/products/sku/SECRET-1' },
      { target: '/v1/products/sku/SECRET-1/' },
    );
    expect(entries.map(({ status, route, path }) => [status, route, path])).to.deep.equal([
      ...[200, 200, 404, 401, 401, 204, 400, 500].map((status) => [status, template, template]),
      [404, 'unknown', '/v1/products/sku/*'],
      [404, 'unknown', '/*/products/sku/*'],
      [404, 'unknown', '/v1/products/sku/*/'],
    ]);
    expect(service.logger.lines.map(({ event }) => event)).to.include('internal_error');
    expect(JSON.stringify(service.logger.lines)).to.not.match(/SECRET|%53ECRET/);
  });

  it('replaces a request id that looks like a credential, and keeps any other', async () => {
    const key = `pcs_${'aB3'.repeat(12)}`;
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const bad = [
      key,
      `x/${key}`,
      'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiI3In0.c2ln',
      'https://ann:correct-horse-1@example.com',
      base64(key),
      base64(`7:${key}`),
      Buffer.from(key).toString('hex'),
      base64('ann:correct-horse-1'),
    ];
    const good = ['7', 'b7f1f8c2-7f4e-4d0a-9e57-1f2d3c4b5a69', 'Root=1-67891233-abcdef012345678912345678', 'a:b@c'];
    const ids = [...bad, ...good];
    const requests = ids.map((id) => ({ target: '/v1/users', headers: [`X-Request-Id: ${id}`] }));
    const logs = (await logged(...requests)).entries.map(({ requestId }) => requestId);
    expect(logs.slice(bad.length)).to.deep.equal(good);
    for (const id of logs.slice(0, bad.length)) expect(id).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });
});
