import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { catalogue } from '../../tests/support/child-process-service.js';
import type { HttpClient } from '../../tests/support/http-client.js';
import { API_KEY } from '../../tests/support/programs.js';
import type { RedisServer } from '../../tests/support/redis-server.js';
import type { Load } from './load.js';
import type { Replica } from './replica.js';

/** What a fault is done to. */
export interface World {
  readonly folder: string;
  /** Two workers behind a primary. The younger one is killed. */
  readonly group: Replica;
  /** The one that is stopped and started again. */
  readonly restarted: Replica;
  readonly replicas: readonly Replica[];
  readonly clients: readonly HttpClient[];
  readonly load: Load;
  readonly redis: RedisServer;
  readonly authorityFile: Buffer;
  /** The key whose rate limit a burst exceeds. */
  readonly burstKey: string;
  /** A key with every scope. */
  readonly adminKey: string;
  /** How many sample products the store has. */
  samples: number;
}

/** A fault takes less than 50 seconds. @throws Error if the service does not do what it promises */
export interface Fault {
  readonly name: string;
  run(world: World): Promise<void>;
}

const QUOTA = 600;
const BURST = 1_000;
const LIMITS_ALONE = 'rate limits are no longer shared: this process limits on its own';
const SILENT = 501;
const SILENT_MS = 30_000;
const OUTAGE_MS = 10_000;
const DISK_FAILURE_MS = 5_000;
const SLOW_READS = 60;
const SLOW_READ_MS = 500;
const SLOW_READ_BYTES = 32_768;
/** Time for the last effects of a fault, such as connections that end. */
const AFTERMATH_MS = 8_000;

export const FAULTS: readonly Fault[] = [
  {
    name: 'kill -9 of a worker',
    run: async ({ group, load: { tolerance } }) => {
      tolerance.broken = true;
      const victim = group.processes.findLast(({ role }) => role === 'worker');
      if (!victim) throw new Error('no worker runs');
      process.kill(victim.pid, 'SIGKILL');
      await sleep(AFTERMATH_MS);
      tolerance.broken = false;
    },
  },
  {
    name: 'SIGTERM and restart',
    run: async ({ restarted, load: { tolerance }, adminKey }) => {
      tolerance.broken = true;
      // A service listens before its store is open.
      tolerance.unavailable = true;
      await restarted.stop();
      (await restarted.start(adminKey)).close();
      await sleep(AFTERMATH_MS);
      tolerance.broken = false;
      tolerance.unavailable = false;
    },
  },
  { name: 'command line', run: useCommandLine },
  { name: 'burst over the rate limit', run: exceedRateLimit },
  {
    name: 'silent connections',
    run: async ({ clients }) => {
      const connections = clients.flatMap((client) =>
        Array.from({ length: SILENT / clients.length }, () => client.connect()),
      );
      const sockets = await Promise.all(connections);
      for (const socket of sockets) socket.on('error', () => {});
      await sleep(SILENT_MS);
      for (const socket of sockets) socket.destroy();
    },
  },
  {
    name: 'Redis hangs',
    run: async ({ redis }) => {
      redis.hang();
      await sleep(OUTAGE_MS);
      redis.resume();
    },
  },
  {
    name: 'Redis is killed and restarted',
    run: async ({ redis }) => {
      await redis.kill();
      await sleep(OUTAGE_MS);
      await redis.run();
    },
  },
  { name: 'slow reader of an export', run: readSlowly },
  {
    name: 'files cannot grow',
    run: async ({ replicas, load: { tolerance } }) => {
      tolerance.unavailable = true;
      const pids = replicas.flatMap(({ processes }) => processes).map(({ pid }) => pid);
      for (const pid of pids) await limitFileSize(pid, '0');
      await sleep(DISK_FAILURE_MS);
      for (const pid of pids) await limitFileSize(pid, 'unlimited');
      await sleep(AFTERMATH_MS);
      tolerance.unavailable = false;
    },
  },
];

/** Sets the soft limit of the size of files: a write beyond it fails with EFBIG. */
async function limitFileSize(pid: number, limit: string): Promise<void> {
  await promisify(execFile)('prlimit', ['--pid', `${pid}`, `--fsize=${limit}:`]);
}

async function useCommandLine(world: World): Promise<void> {
  const { folder, samples } = world;
  const run = async (...args: string[]) => {
    const { code, out, err } = await catalogue(folder, args);
    if (code !== 0) throw new Error(`catalogue ${args.join(' ')} ended with ${code}: ${err}`);
    return out;
  };
  await run('backup', join(folder, `backup-${samples}.sqlite`));
  world.samples += 100;
  await run('seed', '--products', `${world.samples}`);
  const made = await run('keys', 'create', '--name', 'visitor', '--scopes', 'products:read', '--json');
  const { id } = JSON.parse(made);
  const token = API_KEY.exec(made)?.[0] ?? '';
  await expectStatus(world, token, 200);
  await run('keys', 'list');
  await run('keys', 'revoke', `${id}`);
  await sleep(5_500);
  await expectStatus(world, token, 401);
}

async function expectStatus({ clients }: World, token: string, expected: number): Promise<void> {
  for (const client of clients) {
    const { status } = await client.get('/v1/products?limit=1', { token });
    if (status !== expected) throw new Error(`a key of the command line gets ${status} instead of ${expected}`);
  }
}

/**
 * All services together allow exactly the quota, because they count in Redis; unless Redis was too slow during the
 * burst, as the log says. Then each process allows at most the quota.
 */
async function exceedRateLimit({ clients, burstKey, replicas }: World): Promise<void> {
  const outages = () => {
    for (const replica of replicas) replica.readLog();
    return replicas.reduce((sum, { messages }) => sum + (messages.get(LIMITS_ALONE) ?? 0), 0);
  };
  const before = outages();
  const statuses = new Map<number, number>();
  await Promise.all(
    Array.from({ length: BURST }, async (_, at) => {
      const response = await clients[at % clients.length]?.get('/v1/products/1', { token: burstKey });
      if (response) statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    }),
  );
  const alone = replicas.reduce((sum, { processes }) => sum + processes.length, 0);
  const processes = outages() > before ? 1 + alone : 1;
  const [allowed = 0, refused = 0] = [statuses.get(200), statuses.get(429)];
  if (allowed + refused !== BURST || allowed < QUOTA || allowed > QUOTA * processes)
    throw new Error(`a burst of ${BURST} gets ${JSON.stringify([...statuses])}`);
}

/** Exports all products, slowly at first, and expects a complete stream. */
async function readSlowly({ clients: [client], adminKey, authorityFile, samples }: World): Promise<void> {
  if (!client) throw new Error('there is no client');
  const sent = request({
    host: 'localhost',
    port: client.port,
    path: '/v1/products',
    ca: authorityFile,
    agent: false,
    headers: { Authorization: `Bearer ${adminKey}`, Accept: 'application/x-ndjson' },
  }).end();
  const [response] = await once(sent, 'response');
  let text = '';
  for (let reads = 0; reads < SLOW_READS; reads++) {
    await sleep(SLOW_READ_MS);
    text += response.read(SLOW_READ_BYTES) ?? '';
  }
  for await (const chunk of response) text += chunk;
  const lines = text.split('\n').filter((line) => line.includes('"id":')).length;
  if (!response.complete || lines < samples) throw new Error(`an export ended after ${lines} of ${samples} products`);
}
