/**
 * Sends the requests of hostile clients to a started service, and prints their costs: for each request the CPU
 * milliseconds of the main thread; for each flood how long a bystander waits and how much memory the service uses.
 * Fails if a value is over its bound three times in a row. `npm run test:hostile`; `-- --part costs` or
 * `-- --part floods` runs one part, `-- --flood pages` only floods with this word in their name, and `-- --seconds 3`
 * holds connections open for a shorter time. Linux only.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { SCOPES } from '#src/domain/access.js';
import { ChildProcessService, catalogue } from '../tests/support/child-process-service.js';
import type { HttpClient } from '../tests/support/http-client.js';
import type { BystanderData, Measured } from './hostile/bystander.js';
import { Connections, FLOODS, type Flood } from './hostile/floods.js';
import { BODIES, FORMS, type HostileRequest, READS } from './hostile/requests.js';
import { integer, options } from './options.js';
import { ResidentMemory } from './resident-memory.js';
import { milliseconds, print, table } from './statistics.js';

/** The most CPU time of the main thread in one turn of the event loop. */
const MAX_TURN_MS = 25;
/**
 * The longest times (p99) of a bystander's short requests. A prober usually gives up after a second. One turn of the
 * event loop may read 64 KiB from each of 50 connections, so a slow machine needs more than 100 ms for one.
 */
const MAX_MS: Readonly<Record<string, number>> = { live: 500, item: 500, list: 1_000, create: 1_000 };
/** The longest time (p99) of its searches, imports and exports. */
const MAX_LONG_MS = 3_000;
const MAX_MEMORY_MIB = 640;
/** A flood ends after this time, even if some requests have no response yet. */
const FLOOD_SECONDS = 60;
const REPEATS = 5;
/** A value over its bound is measured again: other programs may slow down one try, a defect slows down all tries. */
const MAX_TRIES = 3;
const ALL_SCOPES = SCOPES.filter((scope) => scope !== 'keys:admin');

let passed = 0;
const failures: string[] = [];
const { part, seconds, flood: only } = options({ part: 'all', seconds: '8', flood: '' });
const holdSeconds = integer('seconds', seconds, 1, 60);
const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
try {
  if (part !== 'floods') await costs();
  if (part !== 'costs') await floods();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const failure of failures) print(`FAILED: ${failure}`);
print(`\n  ${passed} passing\n  ${failures.length} failing`);
process.exitCode = failures.length > 0 ? 1 : 0;

function check(isGood: boolean, failure: string): void {
  if (isGood) passed++;
  else failures.push(failure);
}

async function costs(): Promise<void> {
  const home = mkdtempSync(join(folder, 'costs-'));
  const probeFile = join(home, 'turns');
  const program = ['--import', resolve('build/scripts/hostile/turn-probe.js'), resolve('dist/main.js')];
  const service = new ChildProcessService(home, { LOG_LEVEL: 'fatal', TURN_PROBE_FILE: probeFile }, program);
  try {
    const client = await service.started();
    await fill(client, home);
    const rows: string[][] = [];
    for (const request of [...FORMS, ...BODIES, ...READS]) {
      let { status, longest, total } = await cost(service, client, probeFile, request);
      for (let attempt = 1; attempt < MAX_TRIES && longest > MAX_TURN_MS; attempt++)
        ({ status, longest, total } = await cost(service, client, probeFile, request));
      rows.push([request.name, status, milliseconds(total), milliseconds(longest)]);
      check(status.startsWith(`${request.status ?? 200}`), `${request.name}: the status is ${status}`);
      check(longest <= MAX_TURN_MS, `${request.name} blocks the event loop for ${milliseconds(longest)} ms`);
    }
    print(table(['request', 'response', 'CPU ms', 'longest turn, CPU ms'], rows));
    client.close();
  } finally {
    await service.stop('SIGKILL');
  }
}

async function cost(
  service: ChildProcessService,
  client: HttpClient,
  probeFile: string,
  request: HostileRequest,
) {
  const status = await send(client, request);
  const longest: number[] = [];
  for (let at = 0; at < REPEATS; at++) {
    service.kill('SIGUSR2');
    await sleep(5);
    await send(client, request);
    longest.push(await endOfMeasurement(service, probeFile));
  }
  const before = mainThreadMs(service.pid);
  for (let at = 0; at < REPEATS; at++) await send(client, request);
  const total = (mainThreadMs(service.pid) - before) / REPEATS;
  // The median, because one request may contain a garbage collection that other requests caused.
  return { status, longest: longest.sort((a, b) => a - b)[REPEATS >> 1] ?? 0, total };
}

function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1_000_000;
}

/** @returns status and code */
async function send(
  client: HttpClient,
  { method, path, headers, body, isAnonymous }: HostileRequest,
): Promise<string> {
  const token = isAnonymous && { token: null };
  const response = await client.request(method, path, { headers, body, from: '127.0.0.3', ...token });
  return response.status < 400 ? `${response.status}` : `${response.status} ${response.json.code}`;
}

/** @returns the longest turn of the event loop since the measurement began, in milliseconds of CPU time */
async function endOfMeasurement(service: ChildProcessService, file: string): Promise<number> {
  const before = lines(file).length;
  service.kill('SIGUSR2');
  while (lines(file).length === before) await sleep(5);
  return Number(lines(file).at(-1));
}

function lines(file: string): string[] {
  try {
    return readFileSync(file, 'latin1').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

async function floods(): Promise<void> {
  const home = mkdtempSync(join(folder, 'floods-'));
  // The default rate limit applies to hostile clients. The bystander sends more, but with a key for each probe.
  const service = new ChildProcessService(home, { RATE_LIMIT_REQUESTS: '600' });
  try {
    const client = await service.started();
    await fill(client, home);
    const rows: string[][] = [];
    for (const [at, flood] of FLOODS.entries()) {
      if (!flood.name.includes(only)) continue;
      let outcome = await runFlood(service, client, home, flood, 10 + at);
      // Each try comes from another IP address, because the rate limit of the previous one may be used up.
      for (let attempt = 1; attempt < MAX_TRIES && outcome.checks.some(({ isGood }) => !isGood); attempt++)
        outcome = await runFlood(service, client, home, flood, 10 + at + attempt * FLOODS.length);
      for (const { isGood, failure } of outcome.checks) check(isGood, failure);
      rows.push(...outcome.rows);
    }
    print(
      table(['flood', 'probe', 'requests', 'p50 ms', 'p99', 'max', 'failed', 'MiB before', 'at most'], rows),
    );
    client.close();
  } finally {
    await service.stop('SIGKILL');
  }
}

interface Check {
  readonly isGood: boolean;
  readonly failure: string;
}

/** Runs a flood once while a bystander measures its own requests. */
async function runFlood(
  service: ChildProcessService,
  client: HttpClient,
  home: string,
  flood: Flood,
  host: number,
): Promise<{ readonly rows: string[][]; readonly checks: readonly Check[] }> {
  const { port } = client;
  const authorityFile = `${home}/data/tls/ca.pem`;
  const key = await newKey(client);
  const bystander = await startBystander(service, client, authorityFile, flood);
  const memory = new ResidentMemory(service.pid);
  const connections = new Connections({ port, authorityFile, key, from: `127.0.0.${host}`, holdSeconds });
  const timeout = sleep(FLOOD_SECONDS * 1_000, undefined, { ref: false });
  // At least this long, so that the bystander sends enough requests.
  await Promise.race([Promise.all([flood.run(connections), sleep(holdSeconds * 1_000)]), timeout]);
  const measured = await bystander.stop();
  connections.close();
  const { start, max } = memory.stop();
  const checks = [
    ...measured.map(({ probe, p99 }) => ({
      isGood: p99 <= (MAX_MS[probe] ?? MAX_LONG_MS),
      failure: `${flood.name}: ${probe} takes ${milliseconds(p99)} ms (p99)`,
    })),
    {
      isGood: max <= MAX_MEMORY_MIB,
      failure: `${flood.name}: the memory grows to ${Math.round(max)} MiB`,
    },
    ...measured.map(({ probe, failures: [first] }) => ({
      isGood: first === undefined,
      failure: `${flood.name}: ${probe}: ${first}`,
    })),
  ];
  const rows = measured.map(({ probe, count, p50, p99, max: most, failures: { length } }, row) => [
    row === 0 ? flood.name : '',
    probe,
    `${count}`,
    milliseconds(p50),
    milliseconds(p99),
    milliseconds(most),
    `${length}`,
    ...(row === 0 ? [start.toFixed(0), max.toFixed(0)] : ['', '']),
  ]);
  return { rows, checks };
}

async function startBystander(
  service: ChildProcessService,
  client: HttpClient,
  authorityFile: string,
  { probes }: Flood,
) {
  const [, managementPort] = await service.logs(/"port":(\d+)[^\n]*"msg":"management listening"/);
  const names = ['live', 'item', ...probes];
  // Each probe has its own key, so that it stays below the rate limit.
  const keys = await Promise.all(names.map(async (name) => [name, await newKey(client)] as const));
  const data: BystanderData = {
    port: client.port,
    managementPort: Number(managementPort),
    authorityFile,
    keys: Object.fromEntries(keys),
  };
  const worker = new Worker(new URL('./hostile/bystander.js', import.meta.url), { workerData: data });
  await once(worker, 'message');
  return {
    stop: async (): Promise<readonly Measured[]> => {
      const message = once(worker, 'message');
      worker.postMessage('stop');
      const [measured] = await message;
      return measured as readonly Measured[];
    },
  };
}

async function newKey(client: HttpClient): Promise<string> {
  const { json } = await client.post('/v1/api-keys', { name: 'hostile', scopes: ALL_SCOPES });
  return json.key;
}

/** Creates 150 products of 29 KiB, which fill a page of 4 MiB, and then small ones that unindexed queries scan. */
async function fill(client: HttpClient, home: string): Promise<void> {
  const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key${i}`, 'v'.repeat(460)]));
  const large = { name: 'large', description: 'd'.repeat(5_000), attributes };
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const { text } = await client.post('/v1/products/imports', `${JSON.stringify(large)}\n`.repeat(150), {
    headers,
  });
  if (!text.includes('"line":150,"status":201'))
    throw new Error(`the products were not created: ${text.slice(0, 500)}`);
  await client.post('/v1/users', { name: 'A', email: 'a@example.com' });
  const { code, err } = await catalogue(home, ['seed', '--products', '100000']);
  if (code !== 0) throw new Error(`seed: ${err}`);
}
