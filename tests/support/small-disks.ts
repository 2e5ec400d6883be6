import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ChildProcessService } from './child-process-service.js';
import { figuresOf } from './figure.js';
import type { HttpClient } from './http-client.js';
import { FIRST_KEY } from './in-process-service.js';
import { temporaryFolder } from './temporary-folder.js';
import { everyProduct } from './workers.js';

/**
 * Starts services for the tests of one `describe` that break their disk: small file systems in memory (tmpfs).
 * @param subject of the figures that are printed at the end
 */
export function smallDisks(subject: string) {
  const figure = figuresOf(subject);
  const running: ChildProcessService[] = [];
  const mounted: string[] = [];
  const totals = { acknowledged: 0, lost: 0, refused: 0, 'not 503': 0 };

  before(() => {
    if (process.getuid?.() !== 0)
      throw new Error('These tests mount small file systems (tmpfs): run them as root on Linux.');
  });
  after(async () => {
    for (const service of running) await service.stop('SIGKILL');
    for (const folder of mounted) spawnSync('umount', ['--lazy', folder]);
    for (const [name, value] of Object.entries(totals)) figure(name, value);
  });
  // After that hook: the folder can be removed when nothing is mounted in it.
  const root = temporaryFolder();

  return {
    running,
    totals,
    folder: () => mkdtempSync(join(root, 'run-')),
    async start(where: string, environment: Record<string, string> = {}) {
      const service = new ChildProcessService(where, { BOOTSTRAP_API_KEY: FIRST_KEY, ...environment });
      running.push(service);
      const client = await service.started(FIRST_KEY);
      return { service, client };
    },
    mount(options: string, where: string): void {
      const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', where]);
      if (status !== 0) throw new Error(`tmpfs cannot be mounted: ${stderr}`);
      if (!options.includes('remount')) mounted.push(where);
    },
    expectUnavailable(response: { status: number; json: { code: string }; headers: object }): void {
      totals.refused++;
      if (response.status !== 503) totals['not 503']++;
      expect([response.status, response.json.code]).to.deep.equal([503, 'unavailable']);
      expect(response.headers).to.have.property('retry-after');
    },
    /** Expects exactly these products: a refused one must not appear either. */
    async expectExactly(client: HttpClient, acknowledged: ReadonlySet<number>): Promise<void> {
      const found = await everyProduct(client);
      const lost = [...acknowledged].filter((id) => !found.has(id));
      totals.lost += lost.length;
      expect(lost, 'acknowledged but lost').to.deep.equal([]);
      expect(
        [...found].filter((id) => !acknowledged.has(id)),
        'refused but there',
      ).to.deep.equal([]);
    },
  };
}
