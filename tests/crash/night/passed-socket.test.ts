import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { ChildProcessService, MAIN } from '../../support/child-process-service.js';
import { HttpClient } from '../../support/http-client.js';
import { FIRST_KEY } from '../../support/in-process-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { everyProduct, logged } from '../../support/workers.js';

const HOLDER = resolve('tests/crash/night/socket-holder.py');
const RESTARTS = 2;

interface ReceivedResponse {
  readonly status: number;
  readonly body: string;
}

/** Clients that send requests until they are stopped: some over persistent connections, some over new ones. */
class Load {
  readonly acknowledged: number[] = [];
  readonly failures: string[] = [];
  /** Requests that were sent again, because the service closed an idle connection (RFC 9112 section 9.3.1). */
  retries = 0;
  reads = 0;
  private isStopped = false;
  private readonly clients: Promise<void>[];
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 8 });

  constructor(
    private readonly port: number,
    private readonly ca: string,
    private readonly token: string,
  ) {
    this.clients = [...Array.from({ length: 8 }, () => this.write()), ...Array.from({ length: 4 }, () => this.read())];
  }

  /** Waits until `count` more products are acknowledged. */
  async more(count: number): Promise<void> {
    const [writes, reads] = [this.acknowledged.length + count, this.reads + count / 10];
    await until(`${count} more writes`, () => this.acknowledged.length >= writes && this.reads >= reads);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.clients);
    this.agent.destroy();
  }

  private async write(): Promise<void> {
    while (!this.isStopped) {
      const key = randomUUID();
      const answer = await this.sendTwice(key);
      if (answer?.status === 201) this.acknowledged.push(JSON.parse(answer.body).id);
      else if (answer) this.failures.push(`POST: ${answer.status} ${answer.body}`);
    }
  }

  private async sendTwice(key: string): Promise<ReceivedResponse | undefined> {
    const headers = { 'Idempotency-Key': key, 'Content-Type': 'application/json' };
    const write = () => this.send('POST', headers, this.agent, '{"name":"Lamp"}');
    return write()
      .catch(() => {
        this.retries++;
        return write();
      })
      .catch((error) => void this.failures.push(`POST: ${error}`));
  }

  private async read(): Promise<void> {
    while (!this.isStopped) {
      const answer = await this.send('GET', {}, false).catch((error) => ({ status: 0, body: String(error) }));
      if (answer.status === 200) this.reads++;
      else this.failures.push(`GET: ${answer.status} ${answer.body}`);
    }
  }

  private send(method: string, headers: object, agent: Agent | false, body?: string): Promise<ReceivedResponse> {
    const { port, ca, token } = this;
    return new Promise((answer, reject) => {
      const sent = { ...headers, Authorization: `Bearer ${token}` };
      const options = { host: 'localhost', port, ca, agent, method, path: '/v1/products', headers: sent };
      request(options, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk));
        response.on('error', reject);
        response.on('end', () => answer({ status: response.statusCode ?? 0, body: text }));
      })
        .on('error', reject)
        .end(body);
    });
  }
}

/** Runs a program that holds the socket of the service and replaces the service on SIGHUP. */
function heldService(folder: string, environment: Record<string, string>): ChildProcessService {
  return new ChildProcessService(folder, environment, [HOLDER, process.execPath, MAIN], 'python3');
}

describe('a service whose socket a supervisor holds', () => {
  const root = temporaryFolder();
  let service: ChildProcessService;
  afterEach(() => service.stop());

  for (const WORKERS of ['1', '2'])
    it(`fails no request while it is replaced under load, WORKERS=${WORKERS}`, async () => {
      const folder = mkdtempSync(join(root, 'store-'));
      service = heldService(folder, { WORKERS, DATA_DIR: 'data' });
      const client = await service.started();
      const authority = readFileSync(`${folder}/data/tls/ca.pem`, 'utf8');
      const load = new Load(client.port, authority, client.token);
      await until('all serve', () => logged(service, 'started').length === Number(WORKERS));
      await load.more(100);
      for (let restart = 1; restart <= RESTARTS; restart++) {
        service.kill('SIGHUP');
        await until('the next one serves', () => logged(service, 'started').length >= (restart + 1) * Number(WORKERS));
        await load.more(100);
      }
      await load.stop();
      expect(load.failures).to.deep.equal([]);
      const found = await everyProduct(client);
      expect(load.acknowledged.filter((id) => !found.has(id))).to.deep.equal([]);
      expect(found.size).to.equal(load.acknowledged.length);
      client.close();
      expect((await service.stop()).code).to.equal(0);
    });

  it('is started again with the socket if all workers die', async () => {
    service = heldService(mkdtempSync(join(root, 'store-')), { WORKERS: '2' });
    const client = await service.started();
    await until('both serve', () => logged(service, 'started').length === 2);
    for (const { pid } of logged(service, 'started')) process.kill(pid, 'SIGKILL');
    await until('two more serve', () => logged(service, 'started').length === 4);
    expect((await client.get('/products')).status).to.equal(200);
    client.close();
  });

  it('responds while its store cannot be reached', async () => {
    const folder = mkdtempSync(join(root, 'store-'));
    service = heldService(folder, { SQLITE_FILE: '/dev/null/x.sqlite' });
    const [, port] = await service.logs(/"port":(\d+),"msg":"listening"/);
    const client = new HttpClient(Number(port), `${folder}/data/tls/ca.pem`, FIRST_KEY);
    expect((await client.get('/health/live')).status).to.equal(200);
    expect((await client.get('/products')).json.code).to.equal('unavailable');
    client.close();
  });

  it('ends with 78 if it gets several sockets or something else', async () => {
    for (const [descriptors, problem] of [
      ['2', /^LISTEN_FDS is "2": pass one socket/],
      ["'\u001b[31m1'", /^LISTEN_FDS is "\\u001b\[31m1": pass one socket/],
      ['1', /^LISTEN_FDS: the descriptor that was passed is no TCP socket/],
    ] as const) {
      const command = `exec 3</dev/null; LISTEN_PID=$$ LISTEN_FDS=${descriptors} exec "$@"`;
      const program = ['-c', command, 'sh', process.execPath, MAIN];
      service = new ChildProcessService(mkdtempSync(join(root, 'store-')), {}, program, 'sh');
      expect((await service.exit).code).to.equal(78);
      expect(
        service.log
          .split('\n')
          .filter((line) => !line.startsWith('{'))
          .join(''),
      ).to.match(problem);
    }
  });
});
