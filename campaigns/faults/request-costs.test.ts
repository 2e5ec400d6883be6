/**
 * Sends hostile requests, one at a time, and measures the longest turn of the event loop in CPU time: the median of
 * three. An error response is short.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { median } from '../../scripts/statistics.js';
import { ChildProcessService, MAIN } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import type { HttpClient } from '../../tests/support/http-client.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import { fill } from './hostile/hostile-service.js';
import { BODIES, FORMS, type HostileRequest, READS } from './hostile/requests.js';

const figure = figuresOf('request-costs');

const REPEATS = 3;
/** An error has at most 1,000 details, and each repeats at most 256 characters of a name. */
const MAX_ERROR_BYTES = 2 * 1_024 * 1_024;

describe('The most costly requests', () => {
  const folder = temporaryFolder();
  const probeFile = join(folder, 'turns');
  let service: ChildProcessService;
  let client: HttpClient;
  let worst = 0;
  let slowest = '';

  before(async () => {
    const program = ['--import', resolve('build/campaigns/faults/hostile/turn-probe.js'), MAIN];
    service = new ChildProcessService(folder, { LOG_LEVEL: 'fatal', TURN_PROBE_FILE: probeFile }, program);
    client = await service.started();
    client.documented = undefined;
    await fill(client, folder);
  });
  after(async () => {
    figure('CPU time of the longest turn', worst, 'ms');
    figure('the request with the longest turn', slowest);
    client.close();
    await service.stop('SIGKILL');
  });

  for (const request of [...FORMS, ...BODIES, ...READS])
    it(`${request.name}: the response is as expected, and an error is short`, async () => {
      expect(await send(request)).to.match(new RegExp(`^${request.status ?? 200}`));
      const longest = await longestTurn(request);
      if (longest > worst) [worst, slowest] = [longest, request.name];
    });

  /** @returns status and code */
  async function send({ method, path, headers, body, isAnonymous }: HostileRequest): Promise<string> {
    const token = isAnonymous && { token: null };
    const response = await client.request(method, path, { headers, body, from: '127.0.0.3', ...token });
    if (response.status < 400) return `${response.status}`;
    expect(response.bytes.length).to.be.at.most(MAX_ERROR_BYTES);
    return `${response.status} ${response.json.code}`;
  }

  /** The median of several requests, because one may contain a garbage collection that other requests caused. */
  async function longestTurn(request: HostileRequest): Promise<number> {
    const longest: number[] = [];
    for (let at = 0; at < REPEATS; at++) {
      service.kill('SIGUSR2');
      await sleep(5);
      await send(request);
      longest.push(await endOfMeasurement());
    }
    return median(longest);
  }

  /** @returns the longest turn of the event loop since the measurement began, in milliseconds of CPU time */
  async function endOfMeasurement(): Promise<number> {
    const before = lines(probeFile).length;
    service.kill('SIGUSR2');
    await until('the probe writes its measurement', () => lines(probeFile).length > before);
    return Number(lines(probeFile).at(-1));
  }
});

/** The file does not exist before the first measurement ends. */
function lines(file: string): string[] {
  try {
    return readFileSync(file, 'latin1').split('\n').filter(Boolean);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
