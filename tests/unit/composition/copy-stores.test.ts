import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { CopyError, type CopyOptions, countsIn, type Progress } from '#src/application/maintenance/copy.js';
import { RESERVATION_MS, TOMBSTONE_MS } from '#src/application/maintenance/retention.js';
import type { RecordTable } from '#src/application/ports/list-query.js';
import { copyStores } from '#src/composition/copy-stores.js';
import type { ApiKey } from '#src/domain/api-key.js';
import type { Instant } from '#src/domain/record.js';
import { product } from '../../contract/repository/records.js';
import { reservation } from '../../contract/repository/reservations.js';
import type { OpenStore } from '../../stores/provider.js';
import { inSqlite } from '../../stores/sqlite.js';
import { RESOURCE_TABLES, TABLES } from '../../support/tables.js';
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

  const copy = async (progress: Progress = () => {}, overwrite?: CopyOptions['overwrite']) => {
    const options = { progress, ...(overwrite && { overwrite }) };
    const reports = await copyStores(`sqlite:${from}`, `sqlite:${to}`, options);
    return reports.map((report) => `${report.name}: ${countsIn(report)}, ${report.written} written`);
  };
  const deleted = async ({ products }: OpenStore, id: number, at: Instant) => {
    await products.insertAll([product(id)]);
    await products.removeAll([{ id, expected: 1, at }]);
  };
  const deletedKey = async ({ apiKeys }: OpenStore, id: number, at: Instant) => {
    const fields: ApiKey = { name: 'first', digest: `d${id}`, scopes: ['keys:admin'] };
    await apiKeys.insertAll([{ ...product(id), fields }]);
    await apiKeys.removeAll([{ id, expected: 1, at }]);
  };

  it('copies unexpired tombstones and reservations, and all tombstones of API keys', async () => {
    const now = Date.now();
    await inSqlite(from, async (storage) => {
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
      ...TABLES.map((table) => `${table.name}: 0 records, ${countOf(table)} tombstones, ${countOf(table)} written`),
      ...RESOURCE_TABLES.map((table) => `${table.name}: ${countOf(table)} reservations, ${countOf(table)} written`),
    ]);
    await inSqlite(to, async ({ products, apiKeys, reservations }) => {
      expect(await products.findUsedIds([1, 2])).to.deep.equal(new Set([2]));
      expect(await apiKeys.findUsedIds([1])).to.deep.equal(new Set([1]));
      expect([...(await reservations.products.find(['old', 'young'])).keys()]).to.deep.equal(['young']);
      expect((await reservations.apiKeys.find(['of a key'])).get('of a key')?.id).to.equal(2);
    });
  });

  it('makes new ids of the target follow the last id of the source', async () => {
    await inSqlite(from, ({ products }) => products.reserveIds(41));
    await copy();
    expect(await inSqlite(to, ({ products }) => products.reserveIds(1))).to.equal(42);
  });

  const messageOf = (attempt: Promise<unknown>) =>
    attempt.then(
      () => 'none',
      (error: Error) => error.message,
    );

  it('fails if a record is created after its table was verified, and the target does not open', async () => {
    await inSqlite(from, ({ products }) => products.insertAll([product(1)]));
    const other = new Database(from);
    let isLate = false;
    const failed = await messageOf(
      copy((name, step) => {
        if (name !== 'users' || step !== 'copying' || isLate) return;
        isLate = true;
        other.exec(`INSERT INTO products (id, record_version, created_at, updated_at, fields)
          VALUES (2, 1, 0, 0, '{"name":"late"}')`);
      }),
    );
    other.close();
    expect([isLate, failed]).to.deep.equal([true, 'The source changed meanwhile. Stop its service.']);
    expect(await messageOf(inSqlite(to, async () => {}))).to.include('a copy to this store has not ended');
  });

  it('takes an empty target alone, and says what another one holds', async () => {
    const now = Date.now();
    await inSqlite(from, ({ products }) => products.insertAll([product(1)]));
    await inSqlite(to, async (storage) => {
      await deleted(storage, 1, now - 2 * TOMBSTONE_MS);
      await storage.reservations.users.reserve([reservation('a', { reservedAt: now - 2 * TOMBSTONE_MS })]);
    });
    const content = 'products: 0 records, 1 tombstones; users: 1 reservations.';
    expect(await messageOf(copy())).to.equal(`The target is not empty: ${content} A copy needs an empty store.`);
    expect(
      await messageOf(
        copy(
          () => {},
          () => {},
        ),
      ),
    ).to.include(`takes only the target of a copy that broke off`);
    await inSqlite(to, async ({ products }) => expect(await products.findUsedIds([1])).to.have.length(1));
  });

  it('marks the target until it has ended: then `overwrite` deletes what is there, and copies again', async () => {
    const now = Date.now();
    const many = Array.from({ length: 1_500 }, (_, at) => product(at + 2));
    await inSqlite(from, async (storage) => {
      await deleted(storage, 1, now);
      await storage.products.insertAll(many);
      await storage.reservations.products.reserve([reservation('a', { reservedAt: now, id: 2 })]);
    });
    const breakAt = (table: string) => (name: string) => {
      if (name === table) throw new CopyError('broken off');
    };
    expect(await messageOf(copy(breakAt('users')))).to.equal('broken off');
    const refusal = `${to}: a copy to this store has not ended; if catalogue copy broke off, run it again with --overwrite.`;
    const openings = [
      inSqlite(to, async () => {}),
      copyStores(`sqlite:${to}`, `sqlite:${to}.x`, { progress: () => {} }),
    ];
    for (const opened of openings) expect(await messageOf(opened)).to.equal(refusal);
    expect(await messageOf(copy())).to.equal(
      'The target is not empty: products: 1500 records, 1 tombstones. It is of a copy that broke off: --overwrite deletes it.',
    );
    const seen: unknown[] = [];
    const overwrite = (contents: readonly unknown[]) => seen.push(...contents);
    expect(await messageOf(copy(breakAt('products'), overwrite))).to.equal('broken off');
    expect(await copy(() => {}, overwrite)).to.include.members([
      'products: 1500 records, 1 tombstones, 1501 written',
      'products: 1 reservations, 1 written',
    ]);
    const deletedThere = { name: 'products', counts: { record: 1_500, tombstone: 1 } };
    expect(seen).to.deep.equal([deletedThere, deletedThere]);
    await inSqlite(to, async ({ products }) => expect(await products.find(2)).to.deep.equal(many[0]));
    expect(await messageOf(copy(() => {}, overwrite))).to.include('This one holds products: 1500 records');
  });
});
