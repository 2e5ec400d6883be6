import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CATALOGUE, POCKETBASE } from '../../../campaigns/bench/api.js';
import { arrivalsOf } from '../../../campaigns/bench/h2load.js';
import { processorTimeOf } from '../../../campaigns/bench/process-figures.js';
import { memoryIn } from '../../../campaigns/bench/resident-memory.js';
import { type Outcome, repeatability, workReport } from '../../../campaigns/bench/rounds.js';
import { Products } from '../../../campaigns/bench/servers/products.js';
import { type ShopOutcome, shopReport } from '../../../campaigns/bench/shop.js';
import { definitions } from '../../../campaigns/bench/subjects.js';
import { sliceOf } from '../../../campaigns/bench/wrk.js';
import { chosen } from '../../../scripts/options.js';
import { Latencies, median } from '../../../scripts/statistics.js';
import { ALL_STORES } from '../../stores/index.js';
import type { HttpResponse } from '../../support/http-client.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const WRK_OUTPUT = `Running 1s test @ https://localhost:1
  200 requests in 1.00s

result
p99_us=12500
requests=200
p50_us=1500
broken=1
first_wrong=404 {"code":"not_found"} a=b
duration_us=2000000
wrong=3
`;

function outcome(server: string, base: string, ...times: number[]): Outcome {
  const slice = { requests: 100, seconds: 1, p50Ms: 1, p99Ms: 2, errors: 0, firstError: '', busy: 0.5 };
  return {
    ...{ server, base, residentMemory: 100, warmUps: [] },
    samples: times.map((processorTime) => ({ ...slice, processorTime })),
  };
}

function cells(text: string, server: string): string[] {
  const row = text.split('\n').find((line) => line.startsWith(`| ${server} `)) ?? '';
  return row.split('|').map((cell) => cell.trim());
}

describe('the load comparison', () => {
  const folder = temporaryFolder();

  it('reads what wrk.lua prints, whatever the order', () => {
    expect(sliceOf(WRK_OUTPUT)).to.deep.equal({
      ...{ requests: 200, seconds: 2, p50Ms: 1.5, p99Ms: 12.5, errors: 4 },
      firstError: '404 {"code":"not_found"} a=b',
    });
  });

  it('fails if wrk prints no result or no response came', () => {
    expect(() => sliceOf('Running 1s test')).to.throw('wrk printed no requests');
    const { errors, firstError } = sliceOf(WRK_OUTPUT.replace('requests=200', 'requests=0'));
    expect([errors, firstError]).to.deep.equal([1, 'no response']);
  });

  it('reads the log of h2load without the time in which connections are opened', () => {
    const opening = '1000000\t200\t90000\n1100000\t200\t80000\n';
    const counted = '1500000\t200\t2000\n1750000\t503\t1000\n2000000\t200\t4000\n';
    const { rate, ...others } = arrivalsOf(opening + counted);
    expect(rate).to.equal(6);
    expect(others).to.deep.equal({ p50Ms: 2, p99Ms: 4, maxMs: 4, errors: 1 });
  });

  it('counts errors while connections are opened, and connections that fail', () => {
    expect(arrivalsOf('1000000\t-1\t0\n1600000\t200\t1\n').errors).to.equal(1);
  });

  it('reads the figures of a process', () => {
    expect(processorTimeOf('123456789 42 7\n')).to.equal(123_456_789);
    const status = 'Name:\tnode\nVmHWM:\t  204800 kB\nVmRSS:\t  102400 kB\n';
    expect([memoryIn(status, 'VmRSS'), memoryIn(status, 'VmHWM')]).to.deep.equal([100, 200]);
  });

  it('computes medians of odd, even and no values', () => {
    expect([median([3, 1, 2]), median([4, 1, 3, 2]), median([])]).to.deep.equal([2, 2.5, Number.NaN]);
  });

  it('shows medians, lowest values and ratios to the base of each server', () => {
    const { text, problems } = workReport('GET', [
      outcome('koa', 'koa', 90, 100, 200),
      outcome('sqlite', 'koa', 40, 50, 60),
      outcome('on mongodb', 'not started', 70),
    ]);
    expect(cells(text, 'sqlite').slice(2, 7)).to.deep.equal(['50.0', '40.0', '100', '50 %', '2.00']);
    expect(cells(text, 'koa')[6]).to.equal('1.00');
    expect(cells(text, 'on mongodb')[6]).to.equal('–');
    expect(problems).to.deep.equal([]);
  });

  it('fails with the first wrong response', () => {
    const good = outcome('koa', 'koa', 1, 1);
    const wrong = good.samples.map((one, at) => ({
      ...one,
      ...{ errors: at * 2, firstError: at === 1 ? '500 x' : '' },
    }));
    for (const bad of [
      { ...good, samples: wrong },
      { ...good, warmUps: wrong },
    ]) {
      const { text, problems } = workReport('GET', [bad]);
      expect(cells(text, 'koa').at(-2)).to.equal('2');
      expect(problems).to.deep.equal(['GET, koa: 2 errors; the first one: 500 x']);
    }
  });

  it("compares the shop's requests with the limit and the peer, and says what failed or cannot be done", () => {
    const one = (request: string, server: string, ...processorTimes: number[]): ShopOutcome => {
      const latencies = new Latencies();
      for (const time of processorTimes) latencies.add(time / 1_000);
      return { request, server, processorTimes, latencies };
    };
    const { text, problems } = shopReport([
      ...[one('page', 'limit', 100, 200), one('page', 'pocketbase (no fsync)', 900), one('page', 'sqlite', 300)],
      ...[one('facets', 'limit', 1_000), one('facets', 'pocketbase (no fsync)')],
      { ...one('facets', 'sqlite', 500), failure: '404' },
    ]);
    const [, , ...rows] = text.split('\n').map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(3, -1),
    );
    expect(rows).to.deep.equal([
      ['150', '100', '1.00', '6.00', '0.10', '0.20'],
      ['900', '900', '6.00', '1.00', '0.90', '0.90'],
      ['300', '300', '2.00', '3.00', '0.30', '0.30'],
      ['1,000', '1,000', '1.00', '–', '1.00', '1.00'],
      ['–', '–', '–', '–', '–', '–'],
      Array(6).fill('failed'),
    ]);
    expect(problems).to.deep.equal(['facets, sqlite: 404']);
  });

  it('says whether the machine repeats itself', () => {
    const repeated = (time: number) => repeatability([outcome('koa', 'koa', 100), outcome('koa again', 'koa', time)]);
    expect(repeated(109)).to.match(/^Two processes of the same server, koa, differ by 9\.0 %/);
    for (const time of [89, 111]) expect(repeated(time)).to.match(/^\*\*Do not trust these figures/);
    expect(repeatability([outcome('sqlite', 'koa', 1)])).to.equal('');
  });

  it('has every store, and compares one on a server with bare Koa on the same server', () => {
    const bases = new Map(definitions({}).map(({ name, base }) => [name, base]));
    for (const { name, unreachable, createDurable } of ALL_STORES)
      expect(bases.get(name), name).to.equal(createDurable ? `koa on ${name}` : unreachable ? undefined : 'koa');
  });

  it('chooses by parts of names', () => {
    const all = ['koa', 'koa again', 'sqlite'].map((name) => ({ name }));
    expect(chosen('servers', '', all)).to.deep.equal(all);
    expect(chosen('servers', 'AGAIN,sql', all).map(({ name }) => name)).to.deep.equal(['koa again', 'sqlite']);
    expect(() => chosen('servers', 'koa,redis', all)).to.throw('--servers redis is none of: koa, koa again');
  });

  it('serves the same pages and changes from a Map', () => {
    const file = join(folder, 'products');
    writeFileSync(file, '{"name":"A"}\n{"name":"B"}\n{"name":"C"}\n');
    const products = new Products(file);
    expect(products.page(0, 2).products.map(({ id }) => id)).to.deep.equal([1, 2]);
    expect(products.page(0, 2).next).to.include('cursor=2');
    expect(products.page(2, 2)).to.deep.equal({ products: [{ id: 3, name: 'C' }] });
    expect(products.patch(2, { name: 'b' })).to.deep.equal({ version: 2, product: { id: 2, name: 'b' } });
    expect(products.patch(9, {})).to.equal(undefined);
    expect(products.create({ name: 'D' }).product.id).to.equal(4);
  });

  it('finds the next page of each interface', () => {
    const response = (headers: HttpResponse['headers'], json: unknown): HttpResponse => {
      return { status: 200, headers, text: '', bytes: Buffer.of(), json };
    };
    const link = '</v1/products?limit=20>; rel="first", </v1/products?cursor=x>; rel="next"';
    expect(CATALOGUE.nextPage(response({ link }, []), 20)).to.equal('/v1/products?cursor=x');
    expect(CATALOGUE.nextPage(response({}, []), 20)).to.equal(undefined);
    const page = { items: [{ id: '000000000000001' }, { id: '000000000000002' }] };
    expect(POCKETBASE.nextPage(response({}, page), 2)).to.include("filter=id%3E'000000000000002'");
    expect(POCKETBASE.nextPage(response({}, page), 3)).to.equal(undefined);
  });
});
