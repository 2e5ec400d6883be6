import { once } from 'node:events';
import { expect } from 'chai';
import { HttpClient } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { Scrape } from '../support/scrape.js';
import { until } from '../support/until.js';

const DURATION_COUNT = 'http_server_request_duration_seconds_count';
const OPERATION_COUNT = 'db_client_operation_duration_seconds_count';

describe('the metrics of a service', () => {
  const service = inProcessService({ STORE: 'sqlite' });
  let management: HttpClient;
  before(() => (management = new HttpClient(service.managementPort, undefined, '')));
  after(() => management.close());
  const scrape = async () => new Scrape((await management.get('/metrics', { token: null })).text);
  /** The growth of a value from before `act` until it is `by`. Requests are counted when their responses have left. */
  const expectGrowth = async (read: (scrape: Scrape) => number, by: number, act: () => Promise<unknown>) => {
    const before = read(await scrape());
    await act();
    await until('the growth is counted', async () => expect(read(await scrape()) - before).to.equal(by));
  };

  it('count requests by method, route and status', async () => {
    const labels = { http_request_method: 'GET', http_route: '/v1/products/{id}', http_response_status_code: '404' };
    await expectGrowth(
      (now) => now.sum(DURATION_COUNT, labels),
      3,
      async () => {
        for (const id of [1_000_001, 1_000_002, 1_000_003]) await service.get(`/v1/products/${id}`);
      },
    );
    expect((await scrape()).sum('http_server_active_requests')).to.equal(0);
  });

  it('count requests for a record by a unique field under one route, whatever the value', async () => {
    const labels = { http_route: '/v1/users/email/{email}' };
    await expectGrowth(
      (now) => now.sum(DURATION_COUNT, labels),
      4,
      async () => {
        for (const email of ['ann-1@example.com', 'ann-2@example.com']) {
          await service.put(`/v1/users/email/${email}`, { name: 'Ann' });
          await service.get(`/users/email/${email}`, { token: null });
        }
      },
    );
    expect((await scrape()).text).to.not.match(/ann-\d/);
  });

  it('count calls of the store by operation', async () => {
    const { id } = (await service.post('/v1/products', { name: 'Lamp' })).json;
    const labels = { db_system_name: 'sqlite', db_collection_name: 'products', db_operation_name: 'find' };
    await expectGrowth(
      (now) => now.sum(OPERATION_COUNT, labels),
      2,
      async () => {
        for (let i = 0; i < 2; i++) await service.get(`/v1/products/${id}`);
      },
    );
  });

  it('count a repeated creation and each repeated line of an import', async () => {
    const replays = (now: Scrape) => now.sum('idempotent_replays_total');
    const create = () =>
      service.post('/v1/products', { name: 'Lamp' }, { headers: { 'Idempotency-Key': '"lamp-0001"' } });
    await expectGrowth(replays, 0, create);
    await expectGrowth(replays, 1, create);
    const headers = { 'Content-Type': 'application/x-ndjson', 'Idempotency-Key': '"lamps-0001"' };
    const lines = '{"name":"a"}\n{"name":"b"}\n{"name":""}\n';
    const load = () => service.post('/v1/products/imports', lines, { headers });
    await expectGrowth(replays, 0, load);
    await expectGrowth(replays, 2, load);
  });

  it('count refused credentials by their cause, and the decisions of the limits', async () => {
    const failures = (code: string) => (now: Scrape) => now.sum('authentication_failures_total', { error_code: code });
    const get = (token: string | null) => () => service.get('/v1/users', { token });
    await expectGrowth(failures('unauthenticated'), 1, get(null));
    await expectGrowth(failures('invalid_token'), 1, get('pcs_wrong'));
    const decisions = (policy: string, decision: string) => (now: Scrape) =>
      now.sum('rate_limit_decisions_total', { policy, decision });
    await expectGrowth(decisions('default', 'allowed'), 1, get(FIRST_KEY));
    await expectGrowth(decisions('auth', 'allowed'), 1, get('pcs_wrong again'));
  });

  it('show what is in use, what is free and what runs', async () => {
    const now = await scrape();
    expect(now.sum('worker_processes')).to.equal(1);
    expect(now.sum('data_dir_available_bytes')).to.be.within(1, now.sum('data_dir_size_bytes'));
    expect(now.sum('tls_certificate_expires_in_seconds')).to.be.greaterThan(30 * 86_400);
    expect(now.find('build_info')[0]?.labels).to.include({ store: 'sqlite', rate_limiter: 'memory' });
    expect(now.find('build_info')[0]?.labels['version']).to.match(/^\d+\.\d+\.\d+/);
    expect(now.sum('db_client_connection_count', { db_client_connection_pool_name: 'writer' })).to.equal(1);
    for (const work of ['imports', 'exports', 'bodies', 'responses']) {
      expect(now.find('work_waiting', { work }), work).to.have.length(1);
      expect(now.find('work_refused_total', { work }), work).to.have.length(1);
    }
  });

  it('show an import while it runs', async () => {
    const imports = (now: Scrape) => now.sum('work_in_progress', { work: 'imports' });
    const request = service.startLines('/v1/products/imports');
    const ended = once(request, 'error');
    request.write('{"name":"slow"}\n');
    await until('the import runs', async () => expect(imports(await scrape())).to.equal(1));
    expect((await scrape()).sum('http_server_active_requests')).to.equal(1);
    request.destroy(new Error('enough'));
    await ended;
    await until('the import has ended', async () => expect(imports(await scrape())).to.equal(0));
  });

  it('have few series, whatever clients send', async () => {
    // Time decides when a background job calls the store, and whether a limit refuses the first of these or a later one.
    const dependsOnTime = ({ name, labels }: Scrape['series'][number]) =>
      /^(nodejs|process|db)_/.test(name) || /^(429|503)$/.test(labels['http_response_status_code'] ?? '');
    const seriesOf = async () =>
      (await scrape()).series
        .filter((one) => !dependsOnTime(one))
        .map(({ name, labels }) => JSON.stringify([name, labels]));
    // Those that the parser of Node knows. It refuses others before there is a request.
    const methods = ['PROPFIND', 'MKCOL', 'PURGE', 'SEARCH', 'REPORT', 'LINK', 'NOTIFY', 'M-SEARCH', 'PUT'];
    const client = new HttpClient(service.port, `${service.folder}/tls/ca.pem`, '');
    const hostile = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, i) => from + i).flatMap((at) => [
          client.request(methods[at % methods.length] as string, `/x${at}`, { token: null }),
          client.request(methods[at % methods.length] as string, `/v1/products/${at}`, { token: `k${at}` }),
          client.get(`/v${at}/products`, { token: FIRST_KEY }),
          client.get(`/products?x${at}=%22}`, { token: FIRST_KEY, headers: { 'API-Version': `${at}` } }),
          client.post(`/v1/products/${at}/x"{}`, {}, { headers: { 'Idempotency-Key': `"k${at}-0000000"` } }),
          client.get('/v1/users', { token: null, headers: { 'X-Request-Id': `r${at}` } }),
        ]),
      );
    await hostile(0, 40);
    const before = await seriesOf();
    await hostile(40, 80);
    client.close();
    // More of the same kinds make no more series.
    expect((await seriesOf()).filter((one) => !before.includes(one))).to.deep.equal([]);
    const now = await scrape();
    expect(now.valuesOf('http_request_method')).to.include('_OTHER');
    for (const method of now.valuesOf('http_request_method'))
      expect(method).to.match(/^(_OTHER|GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/);
    for (const route of now.valuesOf('http_route')) expect(route).to.match(/^(unknown|\/[a-z0-9/{}._-]*)$/);
    expect(now.valuesOf('http_route')).to.include('unknown');
    expect(now.valuesOf('api_version')).to.deep.equal(['1']);
    expect(now.text).to.not.match(/\b[kr]\d+\b|x79/);
  });
});
