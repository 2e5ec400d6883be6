/**
 * Measures the peak of a service on SQLite, then sends twice and four times as much at a constant rate over 1,500 TLS
 * connections: half reads, three tenths pages, a fifth writes, with 32 keys. Times count from when a request was due.
 * The generator of load and the probes leave the first core to the service. Every request gets its success or a
 * complete 503 with `Retry-After`, and everything is served again afterwards.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Latencies } from '../../scripts/statistics.js';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import { HttpClient } from '../../tests/support/http-client.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import { bindToLoadCore } from '../bench/machine.js';
import { LoadGenerator, type LoadPhase, type LoadRequest } from './load-generator.js';

const figure = figuresOf('overload');

const CONNECTIONS = 1_500;
const KEYS = 32;
const PRODUCTS = 5_000;
const PHASES = 'closed:3,2x:4,0.5x:3,4x:4,0.5x:3';
const FLOODS = ['2x', '4x'];
/** The part of the requests that a recovered service serves. */
const RECOVERED = 0.98;

/** Ask for the health of the service, with and without new connections, and note the times in milliseconds. */
class Probes {
  readonly times = new Latencies();
  /** What no probe may get. */
  readonly failures: string[] = [];
  private isOver = false;
  private readonly running: Promise<void>[];

  constructor(service: HttpClient, management: () => HttpClient) {
    this.running = ['/health/live', '/health/ready'].flatMap((path) => [
      this.repeat(() => service.get(path, { token: null })),
      this.repeat(async () => {
        // A connection for each probe, as orchestrators do it.
        const client = management();
        try {
          return await client.get(path, { token: null });
        } finally {
          client.close();
        }
      }),
    ]);
  }

  private async repeat(probe: () => Promise<{ readonly status: number }>): Promise<void> {
    while (!this.isOver) {
      const begin = performance.now();
      await probe().then(
        ({ status }) => status !== 200 && this.failures.push(`${status}`),
        (error: unknown) => this.failures.push(String(error)),
      );
      this.times.add(performance.now() - begin);
      await sleep(50);
    }
  }

  async end(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.running);
  }
}

describe('Overload', () => {
  const folder = temporaryFolder();
  let service: ChildProcessService;
  let generator: LoadGenerator;
  let release = () => {};
  let client: HttpClient;
  let requests: LoadRequest[];
  let phases: readonly LoadPhase[];
  let probes: Probes;

  before(async () => {
    service = new ChildProcessService(folder, { RATE_LIMIT_REQUESTS: '1000000000' });
    [client, generator] = await Promise.all([service.started(), LoadGenerator.build(folder)]);
    client.documented = undefined;
    release = bindToLoadCore();
    await fill(client);
    requests = mixedRequests(await Promise.all(Array.from({ length: KEYS }, () => newKey(client))));
    const [, managementPort] = await service.logs(/"port":(\d+)[^\n]*"msg":"management listening"/);
    probes = new Probes(client, () => new HttpClient(Number(managementPort), undefined, ''));
    phases = await load(CONNECTIONS, PHASES);
    await probes.end();
  });
  after(async () => {
    release();
    client.close();
    await service.stop('SIGKILL');
  });

  const load = (connections: number, phases: string) =>
    generator.run(client.port, `${folder}/data/tls/ca.pem`, requests, { connections, phases });

  const phasesAt = (rate: string) => phases.filter((phase) => phase.rate === rate);
  const perSecond = (rate: string) =>
    phasesAt(rate).reduce((sum, { ok, seconds }) => sum + ok / seconds, 0) / phasesAt(rate).length;

  it('each request gets its success or a complete 503 with Retry-After, and none is lost', () => {
    figure('peak', perSecond('closed'), 'per s');
    for (const { rate, due, unsent, ok, refused, broken, awaited, other } of phases) {
      expect(other, `other responses at ${rate}`).to.deep.equal({});
      expect([broken, awaited], `broken and unanswered at ${rate}`).to.deep.equal([0, 0]);
      expect(ok + refused + unsent, `due at ${rate}`).to.equal(due);
      // It has 64 requests at a time.
      if (rate === 'closed') expect(refused, 'refused at the peak').to.equal(0);
    }
  });

  it('the service refuses the excess and goes on to serve', () => {
    for (const flood of FLOODS)
      for (const { rate, ok, unsent, refused, refusedP50, p99 } of phasesAt(flood)) {
        figure(`goodput at ${rate}`, (perSecond(rate) / perSecond('closed')) * 100, '%');
        figure(`p99 at ${rate}`, p99, 'ms');
        figure(`refused at ${rate}`, refused);
        figure(`without a free connection at ${rate}`, unsent);
        figure(`p50 of refusals at ${rate}`, refusedP50, 'ms');
        expect(ok, `served at ${rate}`).to.be.greaterThan(0);
      }
    const refused = FLOODS.flatMap(phasesAt).reduce((sum, phase) => sum + phase.refused, 0);
    expect(refused, 'refused').to.be.greaterThan(0);
  });

  it('after the flood, everything is served', async () => {
    figure('recovery', Math.max(...phasesAt('0.5x').map(tenthsUntilServed)) / 10, 's');
    await until('every request is served', async () => {
      const [phase] = await load(KEYS, 'closed:1');
      return phase !== undefined && phase.ok > 0 && phase.ok === phase.due;
    });
  });

  it('the probes respond throughout', () => {
    figure('p99 of probes', probes.times.quantile(0.99), 'ms');
    figure('slowest probe', probes.times.quantile(1), 'ms');
    expect(probes.failures).to.deep.equal([]);
  });
});

/** Returns after how many tenths of a second the service serves everything again. */
function tenthsUntilServed({ okByTenth, dueByTenth }: LoadPhase): number {
  const sumFrom = (values: readonly number[], from: number) =>
    values.slice(from).reduce((sum, value) => sum + value, 0);
  const at = dueByTenth.findIndex((_, from) => sumFrom(okByTenth, from) >= RECOVERED * sumFrom(dueByTenth, from));
  return at < 0 ? Number.POSITIVE_INFINITY : at;
}

async function fill(client: HttpClient): Promise<void> {
  const line = (i: number) =>
    JSON.stringify({
      name: `Lamp ${i}`,
      price: { amount: 100 + i, currency: 'EUR' },
      attributes: { colour: 'green', weightKg: 4.2 },
    });
  const lines = Array.from({ length: PRODUCTS }, (_, i) => line(i)).join('\n');
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const { status } = await client.post('/v1/products/imports', lines, { headers });
  expect(status).to.equal(200);
}

async function newKey(client: HttpClient): Promise<string> {
  const { json } = await client.post('/v1/api-keys', {
    name: 'load',
    scopes: ['products:read', 'products:write'],
  });
  return json.key;
}

/** Half reads of a product, three tenths pages of 20, a tenth changes and a tenth creations. */
function mixedRequests(keys: readonly string[]): LoadRequest[] {
  return Array.from({ length: 2_000 }, (_, i) => {
    const token = keys[Math.floor(i / 10) % keys.length] ?? '';
    const id = 1 + ((i * 7_919) % PRODUCTS);
    const price = { amount: 100 + i, currency: 'EUR' };
    if (i % 10 < 5) return { method: 'GET', path: `/v1/products/${id}`, token };
    if (i % 10 < 8) return { method: 'GET', path: `/v1/products?limit=20&id.gt=${id}`, token };
    if (i % 10 < 9) return { method: 'PATCH', path: `/v1/products/${id}`, body: JSON.stringify({ price }), token };
    return {
      method: 'POST',
      path: '/v1/products',
      body: JSON.stringify({ name: `Lamp ${i}`, price }),
      token,
    };
  });
}
