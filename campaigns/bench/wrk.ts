import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const SCRIPT = resolve('campaigns/bench/wrk.lua');

export interface Requests {
  readonly method: string;
  readonly status: number;
  /** A file with one path on each line. */
  readonly paths: string;
  readonly order: 'random' | 'turns';
  /** `{n}` becomes a number that no other request has. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a slice of load measured. */
export interface Slice {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
  /** The first response with a wrong status. */
  readonly firstError: string;
}

let nextNumber = 1;

/** Sends requests over connections, each of which pauses before a request and then waits for the response. */
export async function wrk(
  port: number,
  { method, status, paths, order, body = '', headers = {} }: Requests,
  { connections, seconds, pauseMs = 0 }: { connections: number; seconds: number; pauseMs?: number },
): Promise<Slice> {
  const number = nextNumber;
  nextNumber += 10_000_000;
  const { stdout } = await promisify(execFile)('wrk', [
    ...['-t', '1', '-c', `${connections}`, '-d', `${seconds}s`, '--timeout', '10s', '-s', SCRIPT],
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ...[`https://localhost:${port}`, '--', method, `${status}`, paths, order, body],
    ...[`${number}`, `${pauseMs}`],
  ]);
  return sliceOf(stdout);
}

/** Reads what `wrk.lua` prints at the end. @throws Error if it is not there */
export function sliceOf(output: string): Slice {
  const [, result = ''] = output.split('\nresult\n');
  const values = new Map(result.split('\n').map((line) => pair(line)));
  const number = (name: string) => {
    const value = Number(values.get(name) || Number.NaN);
    if (Number.isNaN(value)) throw new Error(`wrk printed no ${name}: ${output}`);
    return value;
  };
  return {
    requests: number('requests'),
    seconds: number('duration_us') / 1e6,
    p50Ms: number('p50_us') / 1e3,
    p99Ms: number('p99_us') / 1e3,
    errors: number('requests') === 0 ? 1 : number('broken') + number('wrong'),
    firstError: number('requests') === 0 ? 'no response' : (values.get('first_wrong') ?? ''),
  };
}

function pair(line: string): [string, string] {
  const at = line.indexOf('=');
  return [line.slice(0, at), line.slice(at + 1)];
}
