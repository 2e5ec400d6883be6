import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Exports } from '../../../scripts/exports.js';
import { readProducts } from '../../../scripts/load-generator.js';
import { Latencies, table } from '../../../scripts/statistics.js';
import { serverPair } from '../../support/certificates.js';
import { HttpClient } from '../../support/http-client.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const PRODUCTS = 5;

describe('the benchmarks', () => {
  const folder = temporaryFolder();
  let server: Server;
  let service: { products: number; key: string; authorityFile: string; client: HttpClient };
  let respond: (path: string, response: ServerResponse) => void;

  before(async () => {
    const { cert, key, authority } = await serverPair(folder);
    server = createServer({ cert, key }, ({ url = '' }, response) => respond(url, response));
    server.listen(0, 'localhost');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = new HttpClient(port, authority, 'x');
    service = { products: PRODUCTS, key: 'x', authorityFile: authority, client };
  });

  after(() => {
    service.client.close();
    server.closeAllConnections();
    server.close();
  });

  function lines(count: number): void {
    respond = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
      response.end('{}\n'.repeat(count));
    };
  }

  async function failure(attempt: Promise<unknown>): Promise<string> {
    return attempt.then(
      () => 'none',
      (error: Error) => error.message,
    );
  }

  it('compute quantiles of few and of many samples', () => {
    const latencies = new Latencies();
    expect(latencies.quantile(0.5)).to.deep.equal(Number.NaN);
    for (let sample = 100; sample >= 1; sample--) latencies.add(sample);
    expect([0.5, 0.99, 1].map((part) => latencies.quantile(part))).to.deep.equal([50, 99, 100]);
    const few = new Latencies();
    for (const sample of [30, 10, 20]) few.add(sample);
    expect(few.quantile(0.5)).to.equal(20);
  });

  it('print a Markdown table', () => {
    expect(table(['list', 'p50'], [['first page', '1.00']]).split('\n')).to.deep.equal([
      '| list       |  p50 |',
      '|------------|-----:|',
      '| first page | 1.00 |',
    ]);
  });

  it('count the records of an export', async () => {
    lines(PRODUCTS);
    const { records, bytes } = await new Exports(service, false).first();
    expect([records, bytes]).to.deep.equal([PRODUCTS, 3 * PRODUCTS]);
  });

  it('repeat the export until they are stopped', async () => {
    lines(PRODUCTS);
    const exports = new Exports(service, true);
    while (exports.done.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    await exports.stop();
    expect(exports.done.every(({ isWhole, records }) => !isWhole || records === PRODUCTS)).to.equal(true);
  });

  it('fail if an export has fewer records than expected', async () => {
    lines(PRODUCTS - 1);
    expect(await failure(new Exports(service, false).first())).to.include('had 4 records');
  });

  it('fail if an export is rejected or aborted', async () => {
    respond = (_, response) => void response.writeHead(406).end();
    expect(await failure(new Exports(service, false).first())).to.include('406');
    respond = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).write('{}\n');
      setImmediate(() => response.destroy());
    };
    expect(await failure(new Exports(service, true).first())).to.not.equal('none');
  });

  it('read products at the given rate, and fail if a request is rejected', async () => {
    const paths = new Set<string>();
    respond = (path, response) => {
      paths.add(path);
      response.end('{}');
    };
    const pace = { clients: 2, everyMs: 5, seconds: 0.2 };
    const latencies = await readProducts(service, pace);
    expect(latencies.count).to.be.within(2, 80);
    expect([...paths].filter((path) => !/^\/v1\/products\/[1-5]$/.test(path))).to.deep.equal([]);
    respond = (_, response) => void response.writeHead(404).end();
    expect(await failure(readProducts(service, pace))).to.include('404');
  });

  it('measure latency from the time a request was due, so a stall of the server counts', async () => {
    let stall = 200;
    respond = (_, response) => {
      setTimeout(() => response.end('{}'), stall);
      stall = 0;
    };
    const latencies = await readProducts(service, { clients: 1, everyMs: 20, seconds: 0.3 });
    // Ten of the fifteen requests were due by the end of the stall.
    expect(latencies.quantile(0.6)).to.be.greaterThan(20);
  });
});
