import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { TestServer } from '../../../tests/stores/provider.js';
import { ChildProcessService } from '../../../tests/support/child-process-service.js';
import { figuresOf } from '../../../tests/support/figure.js';
import { HttpClient } from '../../../tests/support/http-client.js';
import { FIRST_KEY } from '../../../tests/support/in-process-service.js';
import { recordsOf } from '../../../tests/support/links.js';
import type { TcpProxy } from '../../../tests/support/tcp-proxy.js';
import { until } from '../../../tests/support/until.js';
import { Load } from './load.js';

const WARM_UP_MS = 500;
/** At least so long, in milliseconds. The outage is known after two seconds, and later times are measured. */
const OUTAGE_MS = 2_700;

export interface Fault {
  begin(): unknown;
  end(): unknown;
  /** After this time from its beginning, no replies to earlier commands arrive. */
  readonly lastReplyMs?: number;
  readonly outageMs?: number;
}

type Settings = Readonly<Record<string, string>>;

/**
 * Prepares the outages of a store for one `describe`, at whose end it prints what became of the acknowledged creations.
 * @param root the folder of the services; the caller removes it
 */
export function outagesIn(subject: string, root: string) {
  const figure = figuresOf(subject);
  const running: ChildProcessService[] = [];
  const loads: Load[] = [];
  const acknowledged = { creations: 0, lost: 0, doubled: 0 };
  afterEach(async () => {
    // A test that fails leaves its load to the next one otherwise.
    for (const load of loads.splice(0)) await load.stop();
    for (const service of running.splice(0)) await service.stop('SIGKILL');
  });
  after(() => {
    figure('creations with a key that were acknowledged', acknowledged.creations);
    figure('lost', acknowledged.lost);
    figure('doubled', acknowledged.doubled);
  });

  /** A service that the caller ends. */
  const serviceOn = (settings: Settings) =>
    new ChildProcessService(mkdtempSync(join(root, 'run-')), { BOOTSTRAP_API_KEY: FIRST_KEY, ...settings });

  /** A service that ends with the test. */
  const start = (settings: Settings) => {
    const service = serviceOn(settings);
    running.push(service);
    return service;
  };

  const loadOf = (client: HttpClient, { pid }: ChildProcessService): Load => {
    const load = new Load(client, pid);
    loads.push(load);
    return load;
  };

  /** Ends a load, and looks for every creation of it. */
  const expectNothingLost = async (load: Load, client: HttpClient) => {
    await load.stop();
    load.expectNoFailure();
    const found = await countsByName(client);
    const lost = load.acknowledged.filter((name) => !found.has(name));
    const doubled = load.names.filter((name) => (found.get(name) ?? 0) > 1);
    acknowledged.creations += load.acknowledged.length;
    acknowledged.lost += lost.length;
    acknowledged.doubled += doubled.length;
    expect({ lost, doubled }).to.deep.equal({ lost: [], doubled: [] });
  };

  /** Plays a fault under load: requests and readiness are refused during it, and served again after it. */
  const expectOutage = async (
    name: string,
    { begin, end, lastReplyMs = 0, outageMs = OUTAGE_MS }: Fault,
    client: HttpClient,
    service: ChildProcessService,
  ) => {
    const load = loadOf(client, service);
    await sleep(WARM_UP_MS);
    load.outageBegins(lastReplyMs);
    const begun = begin();
    await Promise.all([
      sleep(lastReplyMs + outageMs),
      until('requests are refused, and the service is not ready', () => load.isRefused()),
    ]);
    await begun;
    load.outageEnds();
    await end();
    load.storeIsBack();
    await until('requests succeed, and the service is ready', () => load.isServedAgain());
    await expectNothingLost(load, client);
    for (const [what, value, unit] of load.figures()) figure(`${name}: ${what}`, value, unit);
  };

  /** Tests what every store does while it cannot be reached at the start. @param proxy before it */
  const startsWithout = (proxy: () => TcpProxy, settings: () => Settings | Promise<Settings>): void => {
    describe('at the start', () => {
      afterEach(() => proxy().set('none'));

      it('delays the start, and the first key is printed once it is reachable', async () => {
        await proxy().set('cut');
        const service = start({ ...(await settings()), LOG_LEVEL: 'info', BOOTSTRAP_API_KEY: '' });
        await service.logs(/the store cannot be reached yet/);
        const [, port] = await service.logs(/"port":(\d+)[^\n]*"msg":"listening"/);
        const early = new HttpClient(Number(port), `${service.folder}/data/tls/ca.pem`, 'x');
        expect([await healthOf(early, 'live'), await healthOf(early, 'ready')]).to.deep.equal([200, 503]);
        expect(service.out).to.equal('');
        early.close();
        await proxy().set('none');
        const client = await service.started();
        expect((await client.get('/products')).status).to.equal(200);
        client.close();
      });

      it('ends the service with exit code 75 after a time', async () => {
        await proxy().set('cut');
        const service = start({ ...(await settings()), STORE_START_TIMEOUT_SECONDS: '2' });
        expect((await service.exit).code).to.equal(75);
        expect(service.out).to.match(/^The service ends: The store could not be reached in time/);
        expect(service.out).to.not.include('pcs_');
      });
    });
  };

  return { figure, serviceOn, start, loadOf, expectNothingLost, expectOutage, startsWithout };
}

/** The faults of any server, and of the network before it. */
export function faultsOf(
  server: Pick<TestServer, 'suspend' | 'resume' | 'kill' | 'restart'>,
  proxy: TcpProxy,
): Readonly<Record<string, Fault>> {
  return {
    'its network is cut': { begin: () => proxy.set('cut'), end: () => proxy.set('none') },
    'its network hangs': { begin: () => proxy.set('hang'), end: () => proxy.set('none') },
    'it is suspended': { begin: () => server.suspend(), end: () => server.resume() },
    'it is killed and started': { begin: () => server.kill(), end: () => server.restart() },
    'its network takes 2 seconds': {
      begin: () => {
        proxy.delayMs = 1_000;
      },
      end: () => {
        proxy.delayMs = 0;
      },
      lastReplyMs: 1_000,
    },
  };
}

async function healthOf(client: HttpClient, name: string): Promise<number> {
  return (await client.get(`/health/${name}`, { token: null })).status;
}

/** Returns how many products have each name. */
async function countsByName(client: HttpClient): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const { name } of recordsOf(client, '/products?limit=1000')) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
