/** A worker thread: a well-behaved client that measures how long its requests take while others misbehave. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Latencies } from '../../../scripts/statistics.js';
import { HttpClient } from '../../../tests/support/http-client.js';

/** The pause between two requests of a probe. It keeps the probe below the default rate limit of its key. */
const PAUSE_MS = 110;
/** The pause of the probe `live`, which has no rate limit. */
const LIVE_PAUSE_MS = 20;

export interface BystanderData {
  readonly port: number;
  readonly managementPort: number;
  readonly authorityFile: string;
  /** The API key of each probe, by the name of the probe. */
  readonly keys: Readonly<Record<string, string>>;
  /** The local IP address of the probe `item`. Default: any. */
  readonly from?: string;
  /** The pause between two requests. Default: {@link PAUSE_MS}. */
  readonly pauseMs?: number;
}

/** When a request began and ended, in milliseconds since 1970: threads have clocks of their own since their start. */
export interface Timed {
  readonly begin: number;
  readonly end: number;
}

/** The measurements of one probe. Times are in milliseconds. */
export interface Measured {
  readonly probe: string;
  readonly requests: readonly Timed[];
  readonly p99: number;
  /** Unexpected responses, each as a short text. */
  readonly failures: readonly string[];
}

const { port, managementPort, authorityFile, keys, from, pauseMs = PAUSE_MS } = workerData as BystanderData;
const service = new HttpClient(port, authorityFile, '');
const management = new HttpClient(managementPort, undefined, '');
const NDJSON = { 'Content-Type': 'application/x-ndjson' };

const PROBES: Readonly<Record<string, (token: string) => Promise<{ status: number; text: string }>>> = {
  live: () => management.get('/health/live', { token: null }),
  item: (token) => service.get('/v1/products/1?fields=id,name', { token, ...(from !== undefined && { from }) }),
  list: (token) => service.get('/v1/users?limit=1', { token }),
  query: (token) => service.get('/v1/products?images.exists=true', { token }),
  import: (token) => service.post('/v1/products/imports', '{"name":"x"}\n', { token, headers: NDJSON }),
  export: (token) => service.get('/v1/users', { token, headers: { Accept: NDJSON['Content-Type'] } }),
  create: (token) => service.post('/v1/users', { name: 'x', email: `u${Math.random()}@example.com` }, { token }),
};

let isOver = false;
const stopped = new Promise<void>((resolve) => {
  parentPort?.once('message', () => {
    isOver = true;
    resolve();
  });
});
parentPort?.postMessage('started');
const measured = await Promise.all(Object.entries(keys).map(([probe, key]) => measure(probe, key)));
service.close();
management.close();
parentPort?.postMessage(measured);

async function measure(probe: string, key: string): Promise<Measured> {
  const request = PROBES[probe];
  if (!request) throw new Error(`there is no probe ${probe}`);
  const latencies = new Latencies();
  const requests: Timed[] = [];
  const failures: string[] = [];
  while (!isOver) {
    const begin = now();
    try {
      const { status, text } = await request(key);
      if (status >= 300 || /"status":[45]/.test(text)) failures.push(`${status} ${text.slice(0, 200)}`);
    } catch (error) {
      failures.push(String(error));
    }
    const end = now();
    latencies.add(end - begin);
    requests.push({ begin, end });
    await Promise.race([sleep(probe === 'live' ? LIVE_PAUSE_MS : pauseMs), stopped]);
  }
  return { probe, requests, p99: latencies.quantile(0.99), failures };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
