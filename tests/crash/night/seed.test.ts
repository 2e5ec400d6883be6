import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { ChildProcessService, CLI, catalogue } from '../../support/child-process-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { everyProduct, WriteLoad } from '../../support/workers.js';

const MANY = 10_000;

describe('catalogue seed', () => {
  const root = temporaryFolder();
  const folder = () => mkdtempSync(join(root, 'run-'));
  const seed = (where: string, count: number, ...more: string[]) =>
    catalogue(where, ['seed', '--products', `${count}`, ...more]);

  /** Opens the store of a folder, also while other processes write to it. */
  async function inStore<Result>(where: string, use: (count: () => number) => Promise<Result> | Result) {
    const database = new SqliteDatabase(join(where, 'data/catalogue.sqlite'));
    await database.open();
    try {
      return await use(() =>
        database.read('SELECT count(*) FROM products', (statement) => {
          const [row] = statement.all() as [number][];
          return row?.[0] ?? 0;
        }),
      );
    } finally {
      await database.close();
    }
  }

  it('creates the same products in every store', async () => {
    const shown = await Promise.all(
      [folder(), folder()].map(async (where) => {
        await seed(where, 150, '--seed', '42');
        const service = new ChildProcessService(where);
        const client = await service.started();
        const { text } = await client.get('/products?limit=1000');
        client.close();
        await service.stop();
        return text;
      }),
    );
    expect(JSON.parse(shown[0] ?? '')).to.have.length(150);
    expect(shown[1]).to.equal(shown[0]);
  });

  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGKILL', null],
  ] as const) {
    it(`is completed by a second run after ${signal} interrupted the first`, async () => {
      const where = folder();
      await seed(where, 1);
      const first = new ChildProcessService(where, {}, [CLI, 'seed', '--products', `${MANY}`]);
      const left = await inStore(where, async (count) => {
        await until('some products exist', () => count() > 1);
        expect((await first.stop(signal)).code).to.equal(code);
        return count();
      });
      expect(left).to.be.within(2, MANY - 1);
      if (code !== null) {
        expect(first.out).to.equal(`${left - 1} products of seed 1 created, 1 existed already\n`);
        expect(first.log).to.include('Run the same command again');
      }
      expect((await seed(where, MANY)).out).to.equal(
        `${MANY - left} products of seed 1 created, ${left} existed already\n`,
      );
      expect(await inStore(where, (count) => count())).to.equal(MANY);
    });
  }

  it('does not disturb the writes of a running service', async () => {
    const service = new ChildProcessService(folder(), { LOG_LEVEL: 'warn' });
    const client = await service.started();
    const load = new WriteLoad(client);
    await load.more(1);
    expect((await seed(service.folder, 5_000)).out).to.include('5000 products of seed 1 created');
    await load.more(1);
    await load.stop();
    const found = await everyProduct(client);
    client.close();
    await service.stop();
    expect(found).to.have.length(5_000 + load.acknowledged.length);
    expect(load.acknowledged.filter((id) => !found.has(id))).to.deep.equal([]);
    expect(service.log).to.equal('');
  });
});
