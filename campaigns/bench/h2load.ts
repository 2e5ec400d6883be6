import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';

const CONNECTIONS = 64;
/** The connections are opened in this time. Their requests wait for it. */
const OPENING_MS = 500;
/** How much longer a server may take that is too slow for the rate. */
const PATIENCE_SECONDS = 60;

/** The responses to requests that arrive at a constant rate. */
export interface Arrivals {
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly errors: number;
}

/**
 * Sends requests at a constant rate over 64 connections, whether or not the responses are in time.
 * @param paths the connections use these in turn
 * @param logFile is replaced
 * @throws Error if the server is far too slow for the rate
 */
export async function h2load(
  port: number,
  {
    paths,
    key,
    rate,
    seconds,
    logFile,
  }: {
    readonly paths: string;
    readonly key: string;
    readonly rate: number;
    readonly seconds: number;
    readonly logFile: string;
  },
): Promise<Arrivals> {
  // h2load appends to a log that exists. It takes a number of requests: with a time (-D) it sometimes does not end.
  rmSync(logFile, { force: true });
  const requests = Math.ceil(rate * (seconds + OPENING_MS / 1e3));
  await promisify(execFile)(
    'h2load',
    [
      ...['--h1', '-t', '1', '-c', `${CONNECTIONS}`, '--rps', `${rate / CONNECTIONS}`, '-n', `${requests}`],
      ...['--log-file', logFile, '-H', `authorization: Bearer ${key}`],
      ...['-B', `https://localhost:${port}`, '-i', paths],
    ],
    { timeout: (seconds + PATIENCE_SECONDS) * 1e3 },
  );
  return arrivalsOf(readFileSync(logFile, 'utf8'));
}

/**
 * Reads the log, which has the start, the status and the time of each response in microseconds. Responses to requests
 * that started while the connections were opened do not count.
 */
export function arrivalsOf(log: string): Arrivals {
  const lines = log
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t').map(Number));
  const begin = lines.reduce((least, [start = 0]) => Math.min(least, start), Number.POSITIVE_INFINITY);
  const counted = lines.filter(([start = 0]) => start - begin >= OPENING_MS * 1e3);
  const end = counted.reduce((most, [start = 0]) => Math.max(most, start), begin);
  const times = Float64Array.from(counted, ([, , time = Number.NaN]) => time / 1e3).sort();
  const quantile = (part: number) => times[Math.max(0, Math.ceil(times.length * part) - 1)] ?? Number.NaN;
  return {
    rate: (counted.length / (end - begin - OPENING_MS * 1e3)) * 1e6,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    maxMs: quantile(1),
    errors: lines.filter(([, status]) => status !== 200).length,
  };
}
