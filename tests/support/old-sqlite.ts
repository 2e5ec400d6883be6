import Database from 'libsql';
import { RECORD_COLUMNS } from '#src/adapters/outbound/sql/keyset.js';
import { APPLICATION_ID, migrate, RELEASED } from '#src/adapters/outbound/sqlite/connection/migrations.js';
import type { Versioned } from '#src/domain/record.js';

/** Makes the tables of a version of this service in an empty database. */
export function createSchema(database: Database.Database, version: number): void {
  for (const _ of migrate(database, 0, version));
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`);
}

/**
 * Makes a database as release 0.1.0 left it: with any records, and as many as it takes to kill a service amid their
 * indexing. `tests/upgrades` has real ones.
 */
export function writeOldDatabase(file: string, products: Iterable<Versioned<object>>): void {
  const database = new Database(file);
  database.exec('PRAGMA journal_mode = WAL; BEGIN');
  createSchema(database, RELEASED);
  const insert = database.prepare(`INSERT INTO products (${RECORD_COLUMNS}) VALUES (?, ?, ?, ?, ?)`);
  let last = 0;
  for (const record of products) {
    const { id, version, createdAt, updatedAt, fields } = record;
    insert.run(id, version, createdAt, updatedAt, JSON.stringify(fields));
    last = Math.max(last, record.id);
  }
  database.prepare("INSERT INTO counters VALUES ('products', ?)").run(last + 1);
  database.exec('COMMIT');
  database.close();
}
