/**
 * Sends mixed requests for half an hour to three services on one SQLite file and one Redis, with a fault each minute, and
 * prints the figures of each minute. Fails if a handle or an acknowledged write is lost, or a response is not expected.
 * `npm run suite soak`; `-- --minutes 5` is shorter, and `-- --import FILE` loads a
 * module into the services first, such as one with a leak. Linux only, with `redis-server` and `prlimit`.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SCOPES } from '#src/domain/access.js';
import { integer, options } from '../../scripts/options.js';
import { Latencies, milliseconds, print, table } from '../../scripts/statistics.js';
import { catalogue } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import { freePort } from '../../tests/support/free-port.js';
import { HttpClient } from '../../tests/support/http-client.js';
import { RedisServer } from '../../tests/support/redis-server.js';
import { isAlive } from '../../tests/support/workers.js';
import { FAULTS, type World } from './faults.js';
import { type Caller, Load } from './load.js';
import { cpuMs, descriptors, Replica, residentMiB } from './replica.js';

const RATE = 200;
const SAMPLES = 20_000;
/** Each key sends 5 requests a second, half of the default rate limit. */
const CALLERS = 40;
const MINUTE_MS = 60_000;
/** A fault begins after this time of its minute. */
const CALM_MS = 8_000;
/** Caches, compiled code and heaps still grow in these first minutes, which are not measured. */
const WARM_MINUTES = 3;
/** The least memory of this time counts: a garbage collection may be due at any other. */
const MEMORY_WINDOW_MS = 10_000;
/** Handles are counted in the last seconds of a minute. */
const HANDLES_MS = 8_000;

const EXTRA_HANDLES = 2;
const figure = figuresOf('soak');

const { minutes: minutesText, import: imported } = options({ minutes: '30', import: '' });
const minutes = integer('minutes', minutesText, WARM_MINUTES + 1, 24 * 60);

/** The least memory of a process in each window of its life. */
interface Life {
  readonly name: string;
  readonly begin: number;
  /** Minutes since the process began, and MiB. */
  readonly points: { readonly minute: number; readonly mebibytes: number }[];
  window: number;
  least: number;
}

const lives = new Map<number, Life>();
const failures: string[] = [];
const rows: string[][] = [];
const p99s: number[] = [];
/** Of each service, minute by minute. */
const handles: (readonly number[])[] = [];

const folder = mkdtempSync(join(tmpdir(), 'soak-'));
const redis = await RedisServer.onFreePort();
await redis.run();
const environment = {
  DATA_DIR: 'data',
  RATE_LIMITER: 'redis',
  REDIS_URL: redis.url,
  // The same for both, so that each accepts the access tokens of the other.
  PUBLIC_URL: 'https://localhost:8443',
  RATE_LIMIT_REQUESTS: '600',
  ...(imported && { NODE_OPTIONS: `--import=${imported}` }),
};
const replica = async (name: string, workers: number) =>
  new Replica(name, folder, workers, { ...environment, PORT: `${await freePort()}` });
const group = await replica('the group', 2);
const single = await replica('the single process', 1);
const restarted = await replica('the restarted process', 1);
const replicas = [group, single, restarted];
try {
  await soak();
} finally {
  for (const each of replicas) await each.kill();
  await redis.kill();
  rmSync(folder, { recursive: true, force: true });
}
for (const failure of failures) print(`FAILED: ${failure}`);
print(`\n${failures.length} failures`);
process.exitCode = failures.length > 0 ? 1 : 0;

async function soak(): Promise<void> {
  const admin = await group.start();
  const adminKey = group.firstKey;
  const authorityFile = join(folder, 'data', 'tls', 'ca.pem');
  const { code, err } = await catalogue(folder, ['seed', '--products', `${SAMPLES}`]);
  if (code !== 0) throw new Error(`seed: ${err}`);
  for (const each of [single, restarted]) (await each.start(adminKey)).close();
  await admin.post('/v1/users', { name: 'Ann', email: 'ann@example.com' });
  const newKey = async () => {
    const body = { name: 'soak', scopes: SCOPES };
    const { json } = await admin.post('/v1/api-keys', body);
    return { id: json.id as number, key: json.key as string };
  };
  const callers: Caller[] = [];
  for (let at = 0; at < CALLERS; at++)
    callers.push({ ...(await newKey()), usesTokens: at % 4 === 0, token: '', until: 0 });
  const clients = replicas.map(({ port }) => new HttpClient(port, authorityFile, adminKey));
  const { key: burstKey } = await newKey();
  const load = new Load(clients, callers, RATE);
  const world: World = {
    folder,
    group,
    restarted,
    replicas,
    clients,
    load,
    redis,
    authorityFile: readFileSync(authorityFile),
    burstKey,
    adminKey,
    samples: SAMPLES,
  };
  admin.close();
  const sampler = setInterval(sampleMemory, 1_000);
  load.start();
  for (let minute = 1; minute <= minutes; minute++) await runMinute(minute, world);
  await load.stop();
  clearInterval(sampler);
  const differences = await load.differences();
  for (const difference of differences.slice(0, 10)) failures.push(difference);
  verify(load, differences.length);
  for (const client of clients) client.close();
}

/** Sends the load of a minute, with its fault, and adds its row to the table. */
async function runMinute(minute: number, world: World): Promise<void> {
  const { load } = world;
  const end = performance.now() + MINUTE_MS;
  load.latencies = new Latencies();
  const { latencies, repeated } = load;
  const cpuBefore = cpuMs(single.processes[0]?.pid ?? 0);
  // The last minute has the fault of the one that it is compared with.
  const fault = FAULTS[((minute === minutes ? WARM_MINUTES : minute) - 1) % FAULTS.length];
  if (!fault) throw new Error('there are no faults');
  await sleep(CALM_MS);
  const known = failures.length;
  let problem = '';
  await fault.run(world).catch((error: unknown) => {
    problem = error instanceof Error ? error.message : String(error);
    failures.push(`minute ${minute}, ${fault.name}: ${problem}`);
  });
  await sleep(Math.max(0, end - HANDLES_MS - performance.now()));
  const fewest = replicas.map(() => Number.POSITIVE_INFINITY);
  while (performance.now() < end) {
    for (const [at, replica] of replicas.entries())
      fewest[at] = Math.min(fewest[at] ?? 0, handlesOf(replica, world.clients[at]));
    await sleep(Math.max(0, Math.min(500, end - performance.now())));
  }
  handles.push(fewest);
  const errors = load.errors.splice(0);
  for (const error of errors.slice(0, 3)) failures.push(`minute ${minute}, ${fault.name}: ${error}`);
  const p99 = latencies.quantile(0.99);
  p99s.push(p99);
  const memory = [...group.processes, ...single.processes].map(({ pid }) => residentMiB(pid)?.toFixed(0) ?? '-');
  rows.push([
    `${minute}`,
    fault.name,
    `${latencies.count}`,
    milliseconds(latencies.quantile(0.5)),
    milliseconds(p99),
    milliseconds((cpuMs(single.processes[0]?.pid ?? 0) - cpuBefore) / (latencies.count / replicas.length)),
    `${load.repeated - repeated}`,
    `${errors.length + Number(problem !== '')}`,
    memory.join(' + '),
    fewest.join(' + '),
    (statSync(join(folder, 'data', 'catalogue.sqlite')).size / 1_048_576).toFixed(0),
  ]);
  print(rows.at(-1)?.join(' | ') ?? '');
  for (const failure of failures.slice(known)) print(`  ${failure}`);
  for (const replica of replicas) {
    for (const [message, count] of replica.messages) print(`  log of ${replica.name}: ${count} x ${message}`);
    replica.messages.clear();
  }
}

/** The open handles of a service without the connections of the load. */
function handlesOf(replica: Replica, client: HttpClient | undefined): number {
  const all = replica.processes.reduce((sum, { pid }) => sum + descriptors(pid), 0);
  return all - (client?.openConnections ?? 0);
}

function sampleMemory(): void {
  for (const replica of replicas) {
    replica.readLog();
    for (const { pid, role } of replica.processes) {
      const mebibytes = residentMiB(pid);
      if (mebibytes === undefined) continue;
      let life = lives.get(pid);
      if (!life) {
        life = {
          name: `${role} of ${replica.name}`,
          begin: performance.now(),
          points: [],
          window: 0,
          least: mebibytes,
        };
        lives.set(pid, life);
      }
      const age = performance.now() - life.begin;
      const window = Math.floor(age / MEMORY_WINDOW_MS);
      if (window > life.window) {
        life.points.push({
          minute: ((life.window + 0.5) * MEMORY_WINDOW_MS) / MINUTE_MS,
          mebibytes: life.least,
        });
        life.window = window;
        life.least = mebibytes;
      } else life.least = Math.min(life.least, mebibytes);
    }
  }
}

function verify(load: Load, lost: number): void {
  print(
    `\n${table(['minute', 'fault', 'requests', 'p50 ms', 'p99', 'CPU ms', 'repeated', 'errors', 'MiB', 'handles', 'database MiB'], rows)}\n`,
  );
  const slopes: string[][] = [];
  const measured = survivors();
  if (measured.length === 0) failures.push('no process lived long enough to measure its memory');
  for (const { name, points } of measured) {
    const slope = slopeOf(points);
    const [first, last] = [points.at(0)?.mebibytes ?? Number.NaN, points.at(-1)?.mebibytes ?? Number.NaN];
    slopes.push([name, `${points.length}`, first.toFixed(0), last.toFixed(0), slope.toFixed(2)]);
    figure(`memory of ${name}, more in a minute`, slope, 'MiB');
  }
  print(`${table(['process', 'windows', 'first MiB', 'last MiB', 'MiB a minute'], slopes)}\n`);
  const [third, last] = [p99s[WARM_MINUTES - 1] ?? Number.NaN, p99s.at(-1) ?? Number.NaN];
  figure('p99 of the last minute', last, 'ms');
  figure("that, to the third minute's", last / third, 'times');
  const round = handles.slice(WARM_MINUTES - 1, -1).slice(0, FAULTS.length);
  for (const [at, { name }] of replicas.entries()) {
    const most = Math.max(...round.map((minute) => minute[at] ?? 0));
    const last = handles.at(-1)?.[at] ?? 0;
    if (last > most + EXTRA_HANDLES) failures.push(`handles of ${name}: at most ${most} at first, ${last} at last`);
  }
  print(`acknowledged writes: ${load.acknowledged}; lost, doubled or different: ${lost}`);
}

/** The processes that live since before the first measured minute, with the windows of the measured minutes. */
function survivors(): Pick<Life, 'name' | 'points'>[] {
  return [...lives]
    .filter(([pid]) => isAlive(pid))
    .map(([, { name, points }]) => ({ name, points: points.filter(({ minute }) => minute > WARM_MINUTES) }))
    .filter(({ points }) => points.length > 2);
}

/** The slope of the regression line (least squares), in MiB a minute. */
function slopeOf(points: Life['points']): number {
  const mean = (of: 'minute' | 'mebibytes') => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [minute, mebibytes] = [mean('minute'), mean('mebibytes')];
  const covariance = points.reduce((sum, point) => sum + (point.minute - minute) * (point.mebibytes - mebibytes), 0);
  return covariance / points.reduce((sum, point) => sum + (point.minute - minute) ** 2, 0);
}
