import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { SqliteArchive } from '#src/adapters/outbound/sqlite/records/archive.js';
import { SqliteChangeFeed } from '#src/adapters/outbound/sqlite/records/change-feed.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { SqliteReservations, SqliteUsageStore } from '#src/adapters/outbound/sqlite/records/small-tables.js';
import { API_KEYS, ENDLESS, PRODUCTS, USERS } from '../../../../../support/tables.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';

/** Records the statements that read and write. */
class RecordingDatabase extends SqliteDatabase {
  private statements: string[] = [];

  override read<Result>(...[sql, use]: Parameters<SqliteDatabase['read']>): Result {
    this.statements.push(sql);
    return super.read(sql, use) as Result;
  }

  override write<Result>(work: Parameters<SqliteDatabase['write']>[0]): Promise<Result> {
    return super.write((statement) =>
      work((sql) => {
        this.statements.push(sql);
        return statement(sql);
      }),
    ) as Promise<Result>;
  }

  /**
   * SQLite's query plans of the statements since the last call: all steps that read a table.
   * @param other another connection to the same file, because an explained write stays open in its own
   */
  plans(other: SqliteDatabase): string[] {
    return this.statements.splice(0).flatMap((sql) => {
      const values = new Array(sql.split('?').length - 1).fill(1);
      const steps = other.read(`EXPLAIN QUERY PLAN ${sql}`, (statement) => statement.all(...values));
      return (steps as [id: number, parent: number, unused: number, detail: string][])
        .map(([, , , detail]) => detail)
        .filter((detail) => /^(SEARCH|SCAN|USE TEMP)/.test(detail) && !detail.includes('json_each'));
    });
  }
}

describe('access by key in SQLite', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'plans.sqlite');
  const other = new SqliteDatabase(file);
  const database = new RecordingDatabase(file);
  before(async () => {
    await database.open();
    await other.open();
    const record = { id: 1, version: 1, createdAt: 0, updatedAt: 0 };
    await new SqliteRepository(database, PRODUCTS, ENDLESS).insertAll([{ ...record, fields: { name: 'A', sku: 'a' } }]);
    await new SqliteRepository(database, USERS, ENDLESS).insertAll([
      { ...record, fields: { name: 'A', email: 'a@x' } },
    ]);
  });
  beforeEach(() => database.plans(other));
  after(async () => {
    await other.close();
    await database.close();
  });

  const BY_KEY = 'SEARCH reservations USING PRIMARY KEY (resource=? AND key=?)';
  const BY_ID = 'SEARCH tombstones USING PRIMARY KEY (resource=? AND id=?)';

  it('finds reservations by the primary key', async () => {
    const store = new SqliteReservations(database, PRODUCTS);
    await store.find(['a', 'b']);
    expect(database.plans(other)).to.deep.equal([BY_KEY]);
    await store.reserve([{ key: 'a', fingerprint: 'f', id: 1, reservedAt: 1 }]);
    expect(database.plans(other)).to.deep.equal([BY_KEY]);
  });

  it('finds used ids by the primary key', async () => {
    await new SqliteRepository(database, PRODUCTS, ENDLESS).findUsedIds([1, 2]);
    expect(database.plans(other)).to.deep.equal(['SEARCH products USING INTEGER PRIMARY KEY (rowid=?)', BY_ID]);
  });

  it('finds records by the indexes on unique values', async () => {
    const byId = 'SEARCH record USING INTEGER PRIMARY KEY (rowid=?)';
    const products = new SqliteRepository(database, PRODUCTS, ENDLESS);
    await products.findAllByUnique('id', [1, 2]);
    expect(database.plans(other)).to.deep.equal(['SEARCH products USING INTEGER PRIMARY KEY (rowid=?)', byId]);
    await products.confirmAll([{ id: 1, version: 1 }]);
    expect(database.plans(other)).to.deep.equal(['SEARCH products USING INTEGER PRIMARY KEY (rowid=?)']);
    await products.findAllByUnique('sku', ['a', 'b']);
    expect(database.plans(other)).to.deep.equal(['SEARCH products USING COVERING INDEX products_sku (sku=?)', byId]);
    await new SqliteRepository(database, USERS, ENDLESS).findAllByUnique('email', ['a@x']);
    expect(database.plans(other)).to.deep.equal([
      'SEARCH users USING COVERING INDEX users_email_folded (email folded=?)',
      byId,
    ]);
  });

  it('purges expired entries by an index on their time', async () => {
    await new SqliteReservations(database, PRODUCTS).purgeBefore(1, 10);
    expect(database.plans(other)).to.deep.equal([
      BY_KEY,
      'SEARCH reservations USING COVERING INDEX reservations_age (resource=? AND reserved_at<?)',
    ]);
    await new SqliteArchive(database, PRODUCTS).purgeBefore(1, 10);
    expect(database.plans(other)).to.deep.equal([
      'SEARCH feeds USING PRIMARY KEY (resource=?)',
      'SEARCH tombstones USING INDEX tombstones_age (resource=? AND removed_at<?)',
      'SEARCH (subquery-1)',
      BY_ID,
      'SEARCH tombstones USING COVERING INDEX tombstones_age (resource=? AND removed_at<?)',
    ]);
    await new SqliteUsageStore(database).purgeBefore(1, 10);
    expect(database.plans(other)).to.deep.equal([
      'SEARCH api_key_usage USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH api_key_usage USING COVERING INDEX api_key_usage_age (hour<?)',
    ]);
  });

  it('numbers and reads changes by their index, and sorts none', async () => {
    const newest = [
      'SEARCH feeds USING PRIMARY KEY (resource=?)',
      'SEARCH products USING COVERING INDEX products_change (change>?)',
      'SEARCH tombstones USING COVERING INDEX tombstones_change (resource=? AND change>?)',
    ];
    await new SqliteRepository(database, PRODUCTS, ENDLESS).removeAll([{ id: 9, expected: 1, at: 0 }]);
    expect(database.plans(other)).to.deep.equal([
      ...newest,
      'SEARCH products USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH products USING INTEGER PRIMARY KEY (rowid=?)',
    ]);
    await new SqliteChangeFeed(database, PRODUCTS).read('x.0', 10);
    expect(database.plans(other)).to.deep.equal([
      ...newest,
      'SEARCH products USING INDEX products_change (change>? AND change<?)',
      'SEARCH tombstones USING INDEX tombstones_change (resource=? AND change>? AND change<?)',
      'SCAN (subquery-4)',
    ]);
  });

  it('looks for no number of a change in a table without a feed', async () => {
    await new SqliteRepository(database, API_KEYS, ENDLESS).removeAll([{ id: 9, expected: 1, at: 0 }]);
    expect(database.plans(other)).to.deep.equal(['SEARCH api_keys USING INTEGER PRIMARY KEY (rowid=?)']);
  });

  it('finds the usage of keys by the primary key', async () => {
    await new SqliteUsageStore(database).find([1, 2], 3);
    expect(database.plans(other)).to.deep.equal([
      'SEARCH api_key_usage USING INDEX sqlite_autoindex_api_key_usage_1 (key_id=? AND hour>?)',
    ]);
  });

  it('copies reservations in the order of the primary key', async () => {
    await new SqliteReservations(database, PRODUCTS).read('', 10);
    expect(database.plans(other)).to.deep.equal(['SEARCH reservations USING PRIMARY KEY (resource=? AND key>?)']);
  });
});
