/**
 * Ten dry runs of each of five clients at once, with the heap that Node takes in a container of 512 MiB: records of 50
 * attributes whose names are their own. The service lives, refuses what is over its bounds, and serves others after it.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ChildProcessService, MAIN } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import { NDJSON, resultsOf } from '../../tests/support/imports.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { newKey } from './hostile/hostile-service.js';

const figure = figuresOf('dry-run-memory');
const CLIENTS = 5;
const RUNS = 10;
const LINES = 20_000;

describe('Dry runs of records with names of their own', function () {
  this.timeout(600_000);
  const service = new ChildProcessService(temporaryFolder(), { LOG_LEVEL: 'fatal' }, [
    ...['--max-old-space-size=256', '--max-semi-space-size=16', MAIN],
  ]);
  after(() => service.stop('SIGKILL'));

  it('leave the process alive, and are refused by the client and by all', async () => {
    const client = await service.started();
    client.documented = undefined;
    const keys: string[] = [];
    for (let n = 0; n < CLIENTS; n++) keys.push((await newKey(client)).key);
    let made = 1_000_000;
    const line = () => {
      const attributes = Array.from({ length: 50 }, () => `"${(made++).toString(36)}":1`);
      return `{"sku":"S-${made}","name":"x","attributes":{${attributes}}}\n`;
    };
    const body = Array.from({ length: LINES }, line).join('');
    const path = '/v1/products/imports?match=sku&dryRun=true';
    const statuses = new Set<number>();
    const run = async (token: string) => {
      for (const { status } of resultsOf(await client.post(path, body, { token, headers: NDJSON })))
        statuses.add(status);
    };
    // The connections are there before the client is busy with all bodies at once: a handshake has a limit.
    await Promise.all(Array.from({ length: CLIENTS * RUNS }, () => client.get('/health/ready', { token: null })));
    await Promise.all(keys.flatMap((token) => Array.from({ length: RUNS }, () => run(token))));
    expect([...statuses].every((status) => [201, 413, 503].includes(status))).to.equal(true);
    expect([...statuses]).to.include.members([201, 503]);
    const { pid } = service;
    figure(
      'memory at most',
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024,
      'MiB',
    );
    statuses.clear();
    const after = await client.post(path, line(), { headers: NDJSON });
    expect(resultsOf(after).map(({ status }) => status)).to.deep.equal([201]);
  });
});
