import { join } from 'node:path';
import { expect } from 'chai';
import { CopyError, countsIn } from '#src/application/maintenance/copy-archive.js';
import { RESERVATION_MS, TOMBSTONE_MS } from '#src/application/maintenance/retention.js';
import type { RecordTable } from '#src/application/records/list-query.js';
import { copyStores } from '#src/composition/copy-stores.js';
import { sqliteStorage } from '#src/composition/sqlite-storage.js';
import type { Storage } from '#src/composition/storage.js';
import type { ApiKey } from '#src/domain/access.js';
import type { Instant } from '#src/domain/record.js';
import { reservation } from '../../contract/idempotency/reservations.js';
import { product } from '../../contract/repository/records.js';
import { ENDLESS, RESOURCE_TABLES, TABLES } from '../../support/tables.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const HOUR_MS = 3_600_000;

describe('copying a whole store', () => {
  const folder = temporaryFolder();
  let made = 0;
  let from: string;
  let to: string;
  beforeEach(() => {
    [from, to] = [join(folder, `${++made}-from.sqlite`), join(folder, `${made}-to.sqlite`)];
  });

  const inStore = async <Result>(
    file: string,
    use: (stored: Storage) => Promise<Result>,
  ): Promise<Result> => {
    const stored = sqliteStorage({ file, budget: ENDLESS });
    await stored.store.open();
    try {
      return await use(stored);
    } finally {
      await stored.store.close();
    }
  };
  const copy = async () => {
    const reports = await copyStores(`sqlite:${from}`, `sqlite:${to}`, () => {});
    return reports.map((report) => `${report.name}: ${countsIn(report)}, ${report.written} written`);
  };
  const deleted = async ({ products }: Storage, id: number, at: Instant) => {
    await products.insert(product(id));
    await products.remove(id, 1, at);
  };
  const deletedKey = async ({ apiKeys }: Storage, id: number, at: Instant) => {
    const fields: ApiKey = { name: 'first', digest: `d${id}`, scopes: ['keys:admin'] };
    await apiKeys.insert({ ...product(id), fields });
    await apiKeys.remove(id, 1, at);
  };

  it('takes tombstones and reservations that are needed, those of API keys for ever', async () => {
    const now = Date.now();
    await inStore(from, async (stored) => {
      await deleted(stored, 1, now - TOMBSTONE_MS);
      await deleted(stored, 2, now - RESERVATION_MS);
      await deletedKey(stored, 1, 0);
      await stored.reservations.products.reserve([
        reservation('old', { reservedAt: now - 25 * HOUR_MS, id: 1 }),
        reservation('young', { reservedAt: now - 23 * HOUR_MS, id: 2 }),
      ]);
      await stored.reservations.apiKeys.reserve([reservation('of a key', { reservedAt: now, id: 2 })]);
    });
    const oneOf = ({ name }: RecordTable) => (['products', 'api_keys'].includes(name) ? 1 : 0);
    expect(await copy()).to.deep.equal([
      ...TABLES.map(
        (table) => `${table.name}: 0 records, ${oneOf(table)} tombstones, ${oneOf(table)} written`,
      ),
      ...RESOURCE_TABLES.map(
        (table) => `${table.name}: ${oneOf(table)} reservations, ${oneOf(table)} written`,
      ),
    ]);
    await inStore(to, async ({ products, apiKeys, reservations }) => {
      expect(await products.findUsedIds([1, 2])).to.deep.equal(new Set([2]));
      expect(await apiKeys.findUsedIds([1])).to.deep.equal(new Set([1]));
      expect([...(await reservations.products.find(['old', 'young'])).keys()]).to.deep.equal(['young']);
      expect((await reservations.apiKeys.find(['of a key'])).get('of a key')?.id).to.equal(2);
    });
  });

  it('goes on after days, though each side has let go of what the other kept', async () => {
    const now = Date.now();
    const old = now - 2 * TOMBSTONE_MS;
    await inStore(from, async (stored) => {
      await stored.products.insert(product(1));
      await deleted(stored, 2, now);
      await stored.reservations.products.reserve([reservation('a', { reservedAt: now, id: 2 })]);
    });
    await inStore(to, async (stored) => {
      await deleted(stored, 3, old);
      await stored.reservations.products.reserve([
        reservation('a', { reservedAt: old, id: 1 }),
        reservation('gone', { reservedAt: old, id: 3 }),
      ]);
    });
    const lines = await copy();
    expect(lines).to.include('products: 1 records, 1 tombstones, 2 written');
    expect(lines).to.include('products: 1 reservations, 1 written');
    await inStore(to, async ({ reservations }) => {
      expect((await reservations.products.find(['a'])).get('a')?.id).to.equal(2);
    });
  });

  it('leaves no new id before the last of the source', async () => {
    await inStore(from, ({ products }) => products.reserveIds(41));
    await copy();
    expect(await inStore(to, ({ products }) => products.reserveIds(1))).to.equal(42);
  });

  it('refuses a target whose reservations are not of the source', async () => {
    const now = Date.now();
    await inStore(to, ({ reservations }) =>
      reservations.users.reserve([reservation('a', { reservedAt: now })]),
    );
    await inStore(from, async () => {});
    const error = await copy().catch((error: unknown) => error);
    expect(error).to.be.instanceOf(CopyError);
    expect((error as Error).message).to.include('a reservation of users, a, that is not of the source');
  });
});
