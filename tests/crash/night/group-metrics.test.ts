import { expect } from 'chai';
import { ChildProcessService } from '../../support/child-process-service.js';
import { HttpClient } from '../../support/http-client.js';
import { Scrape } from '../../support/scrape.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { logged } from '../../support/workers.js';

const REQUESTS = 'http_server_request_duration_seconds_count';
const LABELS = { http_route: '/v1/products', http_response_status_code: '200' };
const BURST = 40;

describe('one scrape of several workers', () => {
  const folder = temporaryFolder();
  let service: ChildProcessService;
  let clients: HttpClient[];
  let management: HttpClient;
  const scrape = async () => {
    const response = await management.get('/metrics', { token: null });
    expect(response.status).to.equal(200);
    return new Scrape(response.text);
  };
  /** Over many connections, which the primary hands to all workers. */
  const burst = () =>
    Promise.all(
      Array.from({ length: BURST }, async () => {
        const client = new HttpClient(clients[0]?.port ?? 0, `${folder}/data/tls/ca.pem`, service.firstKey);
        clients.push(client);
        expect((await client.get('/v1/products')).status).to.equal(200);
      }),
    );
  const bothServe = () =>
    until('both workers report', async () => {
      const now = await scrape();
      expect([now.sum('worker_processes'), now.sum('worker_processes_reporting')]).to.deep.equal([2, 2]);
    });
  const counted = (count: number) =>
    until(`${count} requests are counted`, async () => expect((await scrape()).sum(REQUESTS, LABELS)).to.equal(count));
  before(async () => {
    service = new ChildProcessService(folder, { WORKERS: '2' });
    clients = [await service.started()];
    const [, port] = await service.logs(/"port":(\d+)[^\n]*"msg":"management listening"/);
    management = new HttpClient(Number(port), undefined, '');
  });
  after(async () => {
    for (const client of clients) client.close();
    management.close();
    await service.stop('SIGKILL');
  });

  it('counts the requests of all, whichever worker is asked', async () => {
    await bothServe();
    await burst();
    await counted(BURST);
    // A process buffers its log for a moment.
    await until('both have served', () => new Set(logged(service, 'request').map(({ pid }) => pid)).size === 2);
    for (let i = 0; i < 10; i++) expect((await scrape()).sum(REQUESTS, LABELS)).to.equal(BURST);
  });

  it('keeps the counts of a worker that is killed, and responds meanwhile', async () => {
    const [victim] = logged(service, 'started').map(({ pid }) => pid);
    process.kill(victim as number, 'SIGKILL');
    const seen = [BURST];
    await until('another worker serves', async () => {
      const response = await management.get('/metrics', { token: null }).catch(() => undefined);
      if (!response) return false;
      seen.push(new Scrape(response.text).sum(REQUESTS, LABELS));
      return logged(service, 'started').length === 3;
    });
    await bothServe();
    expect(seen.every((count) => count === BURST)).to.equal(true);
    await burst();
    await counted(2 * BURST);
  });
});
