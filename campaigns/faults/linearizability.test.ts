/**
 * 16 clients in two groups of eight work through two processes on one SQLite file, then on one server of each other
 * store. They read items and lists, send `If-None-Match`, replace, patch the same and other fields, and delete.
 * Meanwhile processes of the service and of the server are killed and started again, suspended with SIGSTOP, and
 * connections are cut. Porcupine (https://github.com/anishathalye/porcupine) checks the history of each record. An
 * operation without a response may take effect at any later time, or never. The checker prunes by version, so 20 writes
 * with unknown outcome take milliseconds instead of over 30 s.
 *
 * Controls: one stale read that is added to a history, a service that does not compare versions, and one that reads
 * from a cache of 20 ms. The checker must find each. With one member of MongoDB the test shows nothing about elections.
 */
import { mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ALL_STORES } from '../../tests/stores/index.js';
import type { TestStoreProvider } from '../../tests/stores/provider.js';
import { SQLITE } from '../../tests/stores/sqlite.js';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import { freePort } from '../../tests/support/free-port.js';
import { HttpClient } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { TEST_SEED } from '../../tests/support/run-settings.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { TcpProxy } from '../../tests/support/tcp-proxy.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { type Operation, porcupine, type Value, type Verdict } from './linearizability/record-history.js';
import { RecordLoad } from './linearizability/record-load.js';

const figure = figuresOf('linearizability');

const UNPROTECTED = resolve('build/tests/support/unprotected-service.js');
/** By the pace of the store. */
const OPERATIONS = { fast: 46_000, slow: 4_500, unprotected: 2_000 };
/** A fault comes after so many operations. */
const PER_FAULT = { fast: 1_000, slow: 400 };
const REPLICAS = 2;
/** A guard, far longer than a test takes on two cores. */
const LIMIT_MS = 1_200_000;

/** Two processes on one store, which can fail one at a time. */
class Replicas {
  private readonly services: ChildProcessService[] = [];
  private readonly clients: HttpClient[] = [];
  private ports: number[] = [];

  constructor(
    private readonly folder: string,
    private readonly settings: Record<string, string>,
    private readonly program?: readonly string[],
  ) {}

  async start(): Promise<void> {
    this.ports = [await freePort(), await freePort()];
    await Promise.all(this.ports.map((_, replica) => this.startOne(replica)));
  }

  readonly clientOf = (replica: number): HttpClient => {
    const client = this.clients[replica];
    if (!client) throw new Error(`There is no replica ${replica}.`);
    return client;
  };

  /** Ends a replica as a crash does, and starts it again. */
  async crash(replica: number): Promise<void> {
    await this.services[replica]?.stop('SIGKILL');
    await this.startOne(replica);
  }

  async pause(replica: number, ms: number): Promise<void> {
    this.services[replica]?.kill('SIGSTOP');
    await sleep(ms);
    this.services[replica]?.kill('SIGCONT');
  }

  /** Cuts the connections of all clients with a replica. They connect again. */
  cut(replica: number): void {
    this.clientOf(replica).close();
    this.connect(replica);
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.close();
    await Promise.all(this.services.map((service) => service.stop('SIGKILL')));
  }

  private async startOne(replica: number): Promise<void> {
    const environment = {
      PORT: `${this.ports[replica]}`,
      BOOTSTRAP_API_KEY: FIRST_KEY,
      LOG_LEVEL: 'warn',
      ...this.settings,
    };
    const service = new ChildProcessService(this.folder, environment, this.program);
    this.services[replica] = service;
    (await service.started(FIRST_KEY)).close();
    this.connect(replica);
  }

  private connect(replica: number): void {
    const authority = `${this.folder}/data/tls/ca.pem`;
    this.clients[replica] = new HttpClient(this.ports[replica] ?? 0, authority, FIRST_KEY);
  }
}

/** The kinds of faults, one after the other. */
function faultsOf(replicas: Replicas, others: readonly (() => Promise<void>)[]) {
  const random = new SeededRandom(TEST_SEED);
  const pick = () => random.below(REPLICAS);
  return [
    async () => replicas.cut(pick()),
    () => replicas.pause(pick(), 50 + random.below(450)),
    async () => replicas.cut(pick()),
    () => replicas.crash(pick()),
    ...others,
  ];
}

/** Runs the load of 16 clients with a fault after each `perFault` operations. @returns the number of faults */
async function runWithFaults(
  load: RecordLoad,
  count: number,
  perFault: number,
  faults: readonly (() => Promise<void>)[],
): Promise<number> {
  let isOver = false;
  let number = 0;
  const fail = async () => {
    for (let at = perFault; !isOver; ) {
      await sleep(10);
      if (load.known < at) continue;
      await faults[number % faults.length]?.();
      number++;
      at = load.known + perFault;
    }
  };
  const failing = fail();
  failing.catch(() => load.stop());
  try {
    await load.run(count, 2);
  } finally {
    isOver = true;
    await failing;
  }
  return number;
}

function expectLinearizable({ violations, unchecked }: Verdict, history: readonly Operation[]): void {
  const of = (record: number) => history.filter((operation) => operation.record === record);
  const [first] = violations;
  const lines = first === undefined ? [] : of(first).map((operation) => JSON.stringify(operation));
  expect(violations, `records without an order of their operations:\n${lines.join('\n')}`).to.deep.equal([]);
  expect(unchecked, 'records whose check took too long').to.deep.equal([]);
}

/** Returns the history with one more read, of a version that another one has replaced before it was called. */
function withStaleRead(history: readonly Operation[]): [record: number, history: Operation[]] {
  for (const replaced of history) {
    const { record, version = 0, result } = replaced;
    if (replaced.status !== 200 || !result) continue;
    const newer = history.find((later) => later.record === record && (later.version ?? 0) > version);
    if (!newer?.return) continue;
    const read = { record, client: 0, kind: 'read', status: 200, version, result } as const;
    return [record, [...history, { ...read, call: newer.return + 1, return: newer.return + 2 }]];
  }
  throw new Error('No record has two versions.');
}

/** Returns the history of one record: `count` writes of unknown outcome without effect, then writes of 8 clients. */
function withUnknownWrites(count: number): Operation[] {
  const record = 1;
  const value: Value = ['n', 'd', 'a', 'b'];
  const changes = [null, null, 'unknown', null];
  return [
    { record, client: 0, call: 0, return: 1, kind: 'create', value, status: 201, version: 1, result: value },
    ...Array.from(
      { length: count },
      (_, client) => ({ record, client, call: 2, kind: 'patch', changes, status: 0 }) as const,
    ),
    ...Array.from({ length: 100 }, (_, at): Operation => {
      const version = at + 2;
      const name = `n${version}`;
      const times = { call: 10 * at + 10, return: 10 * at + 90 };
      const patch = { kind: 'patch', changes: [name, null, null, null], status: 200, version } as const;
      return { record, client: at % 8, ...times, ...patch, result: [name, 'd', 'a', 'b'] };
    }),
  ];
}

describe('the operations on a record have one order', () => {
  const folder = temporaryFolder();
  let check: Awaited<ReturnType<typeof porcupine>>;
  const histories: Record<string, Operation[]> = {};
  let running: RecordLoad | undefined;

  before(async () => {
    check = await porcupine(folder);
  });
  after(() => running?.stop());

  async function campaign(
    { name: store, pace }: Pick<TestStoreProvider, 'name' | 'pace'>,
    replicas: Replicas,
    others: readonly (() => Promise<void>)[] = [],
  ): Promise<void> {
    await replicas.start();
    try {
      const load = new RecordLoad(replicas.clientOf, REPLICAS);
      running = load;
      const faults = await runWithFaults(load, OPERATIONS[pace], PER_FAULT[pace], faultsOf(replicas, others));
      const verdict = await check(load.history);
      figure(`operations (${store})`, load.known);
      figure(`records (${store})`, verdict.records);
      figure(`of unknown outcome (${store})`, load.unknown);
      figure(`faults (${store})`, faults);
      figure(`violations (${store})`, verdict.violations.length);
      expectLinearizable(verdict, load.history);
      expect(verdict.operations).to.equal(load.history.length);
      // Four kinds of faults, and those of the store, come in turn.
      expect(faults).to.be.at.least(4 + others.length);
      histories[store] = load.history;
    } finally {
      await replicas.stop();
    }
  }

  it('through two replicas on one SQLite file, which crash, hang and lose connections', () =>
    campaign(SQLITE, new Replicas(folder, { STORE: 'sqlite' }))).timeout(LIMIT_MS);

  for (const store of ALL_STORES) {
    const { name, startServer } = store;
    if (!startServer) continue;
    it(`through two replicas on one ${name}, which hangs, crashes and loses connections as well`, async () => {
      const server = await startServer(mkdtempSync(join(folder, 'server-')));
      const hang = async () => {
        await server.suspend();
        await sleep(200);
        await server.resume();
      };
      const crash = async () => {
        await server.kill();
        await server.restart();
      };
      const network = new TcpProxy({ host: '127.0.0.1', port: server.port });
      const cut = async () => {
        await network.set('cut');
        await network.set('none');
      };
      const settings = server.through(await network.listen());
      try {
        await campaign(store, new Replicas(folder, { ...settings }), [hang, cut, crash]);
      } finally {
        await network.close();
        await server.remove();
      }
    }).timeout(LIMIT_MS);
  }

  it('so that the checker finds one stale read among them', async () => {
    const [record, history] = withStaleRead(histories['sqlite'] ?? []);
    expect((await check(history)).violations).to.deep.equal([record]);
  });

  it('so that the checker decides although many operations have an unknown outcome', async () => {
    const history = withUnknownWrites(20);
    expectLinearizable(await check(history), history);
    const [record, stale] = withStaleRead(history);
    expect((await check(stale)).violations).to.deep.equal([record]);
  });

  for (const protection of ['version comparison', 'fresh reads'])
    it(`so that the checker finds a service without its ${protection}`, async () => {
      const settings = { STORE: 'sqlite', SQLITE_FILE: `${folder}/${protection}.sqlite` };
      const replicas = new Replicas(folder, { ...settings, UNPROTECTED: protection }, [UNPROTECTED]);
      await replicas.start();
      try {
        let violations: readonly number[] = [];
        // A load may end without a violation, but not one after the other.
        for (let operations = 0; violations.length === 0; operations += OPERATIONS.unprotected) {
          const load = new RecordLoad(replicas.clientOf, REPLICAS);
          await load.run(OPERATIONS.unprotected, 1);
          ({ violations } = await check(load.history));
          figure(`operations without ${protection}`, operations + load.known);
        }
        figure(`records with violations without ${protection}`, violations.length);
      } finally {
        await replicas.stop();
      }
    });
});
