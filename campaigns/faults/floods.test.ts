/**
 * One client sends as much as its limit allows, in every costly way, and ten times that in pipelines: forms, bodies,
 * pages, documents, exports, imports, unindexed queries and handshakes, read, not read, or slowly read. A bystander
 * sends its own requests meanwhile and gets no 429 and no 503. The request log shows for each flood that its requests
 * reach the code that they load.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Latencies } from '../../scripts/statistics.js';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import type { HttpClient } from '../../tests/support/http-client.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import type { LogEntry } from '../../tests/support/workers.js';
import { bindToLoadCore } from '../bench/machine.js';
import { ResidentMemory } from '../bench/resident-memory.js';
import type { Measured } from './hostile/bystander.js';
import { Connections, FLOODS, type Flood } from './hostile/floods.js';
import { fill, inBackground, newKey, startBystander } from './hostile/hostile-service.js';

const figure = figuresOf('floods');

/** How long a flood that holds its connections does so, and at least how long the bystander measures. */
const HOLD_SECONDS = 2;
/** A guard: a flood ends after this time, even if some requests have no response yet. */
const FLOOD_SECONDS = 120;

const QUIET: Flood = {
  name: 'nothing',
  expected: {},
  probes: ['list', 'query', 'import', 'export', 'create'],
  run: async () => {},
};

describe("One client's flood", () => {
  const folder = temporaryFolder();
  let service: ChildProcessService;
  let client: HttpClient;
  let hosts = 10;
  let release = () => {};
  let alone: ReadonlyMap<string, Measured>;
  let mostMemory = 0;
  const ofAll = new Latencies();
  let worst = { ratio: 0, text: '' };
  const byStatus: Record<string, number> = {};

  before(async () => {
    // The limit applies to the hostile client. The bystander sends more, but with a key for each probe.
    service = new ChildProcessService(folder, { RATE_LIMIT_REQUESTS: '600' });
    client = await service.started();
    client.documented = undefined;
    release = bindToLoadCore();
    await fill(client, folder);
    await measureAlone();
  });
  after(async () => {
    release();
    figure('most memory', mostMemory, 'MiB');
    figure('requests of the floods by status', JSON.stringify(byStatus).replaceAll('"', ''));
    const p99 = ofAll.quantile(0.99);
    figure("p99 of another client's item over all floods", p99, 'ms');
    figure('that, to its time alone', p99 / p99Alone('item'), 'times');
    figure('p99 in the worst flood, to its time alone', worst.ratio, 'times');
    figure('worst flood', worst.text);
    client.close();
    await service.stop('SIGKILL');
  });

  for (const flood of FLOODS)
    it(`${flood.name}: no request of others is refused`, async () => {
      const { measured, memory } = await during(flood);
      mostMemory = Math.max(mostMemory, memory);
      for (const { probe, p99, requests } of measured) {
        noteWorst(flood, probe, p99);
        if (probe === 'item') for (const { begin, end } of requests) ofAll.add(end - begin);
      }
      expect(failuresOf(measured)).to.deep.equal([]);
    });

  it('after the floods, every request is served', async () => {
    const { measured } = await during(QUIET);
    expect(failuresOf(measured)).to.deep.equal([]);
    expect(measured.filter(({ requests }) => requests.length === 0)).to.deep.equal([]);
  });

  async function measureAlone(): Promise<void> {
    const { measured } = await during(QUIET);
    expect(failuresOf(measured)).to.deep.equal([]);
    alone = new Map(measured.map((each) => [each.probe, each]));
  }

  function p99Alone(probe: string): number {
    return alone.get(probe)?.p99 ?? Number.NaN;
  }

  function noteWorst({ name }: Flood, probe: string, p99: number): void {
    const before = p99Alone(probe);
    const ratio = p99 / before;
    if (ratio > worst.ratio)
      worst = { ratio, text: `${p99.toFixed(0)} ms (${before.toFixed(0)} alone; ${probe}; ${name})` };
  }

  function failuresOf(measured: readonly Measured[]): string[] {
    return measured.flatMap(({ probe, failures }) =>
      failures.slice(0, 1).map((failure) => `${probe}, ${failures.length} times: ${failure}`),
    );
  }

  interface Outcome {
    readonly measured: readonly Measured[];
    /** In MiB. */
    readonly memory: number;
  }

  /** Runs a flood once while a bystander measures its own requests. */
  async function during(flood: Flood): Promise<Outcome> {
    const authorityFile = `${folder}/data/tls/ca.pem`;
    const { id, key } = await newKey(client);
    const loggedBefore = service.log.length;
    const stopBystander = await bystander(authorityFile, flood);
    const memory = new ResidentMemory(service.pid);
    const from = `127.0.0.${hosts++}`;
    const connections = new Connections({
      ...{ port: client.port, authorityFile, key, from },
      holdSeconds: HOLD_SECONDS,
    });
    const timeout = sleep(FLOOD_SECONDS * 1_000, undefined, { ref: false });
    // At least this long, so that the bystander sends enough requests.
    const flooded = () => Promise.all([flood.run(connections), sleep(HOLD_SECONDS * 1_000)]);
    // The bystander is a thread of its own.
    await inBackground(() => Promise.race([flooded(), timeout]));
    const measured = await stopBystander();
    const { max } = memory.read();
    connections.close();
    await untilLogged(flood, connections, id, loggedBefore);
    return { measured, memory: max };
  }

  /** Waits until the log shows that the flood has loaded the service with what it should. */
  async function untilLogged(
    { expected }: Flood,
    { opened }: Connections,
    keyId: number,
    loggedBefore: number,
  ): Promise<void> {
    const counts = () => statusesIn(service.log.slice(loggedBefore), `key:${keyId}`);
    // Requests end when their connections are closed, and the log is buffered.
    await until('the requests of the flood are logged', () => {
      const statuses = counts();
      const requests = Object.values(statuses).reduce((sum, count) => sum + count, 0);
      const found: Record<string, number> = { connections: opened, requests, ...statuses };
      for (const [what, least] of Object.entries(expected))
        if ((found[what] ?? 0) < least)
          throw new Error(`at least ${least} of ${what} expected, and these found: ${JSON.stringify(found)}`);
    });
    for (const [status, count] of Object.entries(counts())) byStatus[status] = (byStatus[status] ?? 0) + count;
  }

  async function bystander(authorityFile: string, { probes }: Flood) {
    const [, managementPort] = await service.logs(/"port":(\d+)[^\n]*"msg":"management listening"/);
    const names = ['live', 'item', ...probes];
    // Each probe has its own key, so that it stays below the rate limit.
    const keys = await Promise.all(names.map(async (name) => [name, (await newKey(client)).key] as const));
    return startBystander({
      port: client.port,
      managementPort: Number(managementPort),
      authorityFile,
      keys: Object.fromEntries(keys),
    });
  }
});

/** Returns how many requests of a key, or without one, had each status. A request may end before it has one. */
function statusesIn(log: string, principal: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of log.slice(0, log.lastIndexOf('\n') + 1).split('\n')) {
    if (!line.endsWith('"msg":"request"}')) continue;
    const entry: LogEntry = JSON.parse(line);
    if (entry['principal'] !== undefined && entry['principal'] !== principal) continue;
    const status = String(entry['status'] ?? 'none');
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
