import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { sqliteStorage } from '#src/adapters/outbound/sqlite/storage.js';
import { CopyError, countsIn, type Progress } from '#src/application/maintenance/copy-archive.js';
import { RESERVATION_MS, TOMBSTONE_MS } from '#src/application/maintenance/retention.js';
import type { RecordTable } from '#src/application/ports/list-query.js';
import { copyStores } from '#src/composition/copy-stores.js';
import { type Storage, storageOf } from '#src/composition/storage.js';
import type { ApiKey } from '#src/domain/api-key.js';
import type { Instant } from '#src/domain/record.js';
import { reservation } from '../../contract/idempotency/reservations.js';
import { product } from '../../contract/repository/records.js';
import { ENDLESS, RESOURCE_TABLES, TABLES } from '../../support/tables.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const HOUR_MS = 3_600_000;

describe('copyStores', () => {
  const folder = temporaryFolder();
  let count = 0;
  let from: string;
  let to: string;
  beforeEach(() => {
    [from, to] = [join(folder, `${++count}-from.sqlite`), join(folder, `${count}-to.sqlite`)];
  });

  const inStore = async <Result>(
    file: string,
    use: (storage: Storage) => Promise<Result>,
  ): Promise<Result> => {
    const storage = storageOf(sqliteStorage({ file, tables: TABLES, budget: ENDLESS }));
    await storage.store.open();
    try {
      return await use(storage);
    } finally {
      await storage.store.close();
    }
  };
  const copy = async (progress: Progress = () => {}) => {
    const reports = await copyStores(`sqlite:${from}`, `sqlite:${to}`, progress);
    return reports.map((report) => `${report.name}: ${countsIn(report)}, ${report.written} written`);
  };
  const deleted = async ({ products }: Storage, id: number, at: Instant) => {
    await products.insertAll([product(id)]);
    await products.removeAll([{ id, expected: 1, at }]);
  };
  const deletedKey = async ({ apiKeys }: Storage, id: number, at: Instant) => {
    const fields: ApiKey = { name: 'first', digest: `d${id}`, scopes: ['keys:admin'] };
    await apiKeys.insertAll([{ ...product(id), fields }]);
    await apiKeys.removeAll([{ id, expected: 1, at }]);
  };

  it('lets the positions in the target expire at its end, also if it fails', async () => {
    await inStore(from, (storage) => storage.products.insertAll([product(1)]));
    await inStore(to, (storage) => storage.feedState.turnOn());
    let taken: unknown;
    const epoch = () => {
      const database = new Database(to);
      const [row] = database.prepare("SELECT epoch FROM feeds WHERE resource = 'products'").all();
      database.close();
      return (row as { epoch: unknown }).epoch;
    };
    const stop = () => {
      taken = epoch();
      throw new CopyError('stopped');
    };
    const failure = await copy(stop).catch((error: Error) => error.message);
    expect(failure).to.equal('stopped');
    expect(epoch()).not.to.equal(taken);
  });

  it('copies unexpired tombstones and reservations, and all tombstones of API keys', async () => {
    const now = Date.now();
    await inStore(from, async (storage) => {
      await deleted(storage, 1, now - TOMBSTONE_MS);
      await deleted(storage, 2, now - RESERVATION_MS);
      await deletedKey(storage, 1, 0);
      await storage.reservations.products.reserve([
        reservation('old', { reservedAt: now - 25 * HOUR_MS, id: 1 }),
        reservation('young', { reservedAt: now - 23 * HOUR_MS, id: 2 }),
      ]);
      await storage.reservations.apiKeys.reserve([reservation('of a key', { reservedAt: now, id: 2 })]);
    });
    const countOf = ({ name }: RecordTable) => (['products', 'api_keys'].includes(name) ? 1 : 0);
    expect(await copy()).to.deep.equal([
      ...TABLES.map(
        (table) => `${table.name}: 0 records, ${countOf(table)} tombstones, ${countOf(table)} written`,
      ),
      ...RESOURCE_TABLES.map(
        (table) => `${table.name}: ${countOf(table)} reservations, ${countOf(table)} written`,
      ),
    ]);
    await inStore(to, async ({ products, apiKeys, reservations }) => {
      expect(await products.findUsedIds([1, 2])).to.deep.equal(new Set([2]));
      expect(await apiKeys.findUsedIds([1])).to.deep.equal(new Set([1]));
      expect([...(await reservations.products.find(['old', 'young'])).keys()]).to.deep.equal(['young']);
      expect((await reservations.apiKeys.find(['of a key'])).get('of a key')?.id).to.equal(2);
    });
  });

  it('continues after days, although each side has purged entries that the other still has', async () => {
    const now = Date.now();
    const old = now - 2 * TOMBSTONE_MS;
    await inStore(from, async (storage) => {
      await storage.products.insertAll([product(1)]);
      await deleted(storage, 2, now);
      await storage.reservations.products.reserve([reservation('a', { reservedAt: now, id: 2 })]);
    });
    await inStore(to, async (storage) => {
      await deleted(storage, 3, old);
      await storage.reservations.products.reserve([
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

  it('makes new ids of the target follow the last id of the source', async () => {
    await inStore(from, ({ products }) => products.reserveIds(41));
    await copy();
    expect(await inStore(to, ({ products }) => products.reserveIds(1))).to.equal(42);
  });

  it('fails if a record is created after its table was verified, and succeeds the next time', async () => {
    await inStore(from, ({ products }) => products.insertAll([product(1)]));
    const other = new Database(from);
    let isVerified = false;
    let isLate = false;
    const error = await copy((name, step) => {
      isVerified ||= name === 'products' && step === 'verifying';
      if (name !== 'users' || isLate) return;
      expect(isVerified).to.equal(true);
      isLate = true;
      other.exec(`INSERT INTO products (id, record_version, created_at, updated_at, fields)
        VALUES (2, 1, 0, 0, '{"name":"late"}')`);
    }).catch((error: unknown) => error);
    expect(error).to.be.instanceOf(CopyError);
    expect((error as Error).message).to.equal(
      'The source changed meanwhile. Stop its service and run this again.',
    );
    expect(await copy(() => other.prepare('SELECT * FROM products').all())).to.include(
      'products: 2 records, 0 tombstones, 1 written',
    );
    other.close();
  });

  it('rejects a target with reservations that the source does not have', async () => {
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
