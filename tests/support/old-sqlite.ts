import Database from 'libsql';
import { APPLICATION_ID, MIGRATIONS } from '#src/adapters/outbound/sqlite/connection/migrations.js';
import { RECORD_COLUMNS, rowOf } from '#src/adapters/outbound/sqlite/sql/schema.js';
import type { Versioned } from '#src/domain/record.js';

/** The steps of the schema that had no index of words. */
const WITHOUT_WORDS = 5;

/**
 * Makes a database as a version of this service without search left it: with any records, and as many as it takes to
 * kill a service amid their indexing. `tests/upgrades` has real ones.
 */
export function writeOldDatabase(file: string, products: Iterable<Versioned<object>>): void {
  const database = new Database(file);
  database.exec('PRAGMA journal_mode = WAL; BEGIN');
  for (const step of MIGRATIONS.slice(0, WITHOUT_WORDS)) database.exec(step);
  const insert = database.prepare(`INSERT INTO products (${RECORD_COLUMNS}) VALUES (?, ?, ?, ?, ?)`);
  let last = 0;
  for (const record of products) {
    insert.run(...rowOf(record));
    last = Math.max(last, record.id);
  }
  database.prepare("INSERT INTO counters VALUES ('products', ?)").run(last + 1);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${WITHOUT_WORDS}; COMMIT`);
  database.close();
}
