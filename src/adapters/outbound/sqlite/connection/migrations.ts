import type Database from 'libsql';
import { DERIVED_VERSION } from '../../../../application/ports/derived-data.js';
import { rowsOf } from './connection.js';

/** Statements, or a function that yields what it has done between parts of long work. */
export type Migration = string | ((connection: Database.Database, from: number) => Iterable<string>);

/** The number of the schema of the first release. */
export const RELEASED = 4;

/** The numbers of unreleased builds whose files this version takes. It does not know their schema. */
export const [FIRST_TAKEN, LAST_TAKEN] = [13, 15];

/**
 * The schema, as steps; `PRAGMA user_version` counts the steps that a file has. A released step never changes: append
 * a new one.
 *
 * Every resource has a table of the same shape, with its fields in one JSON text. A field that is unique, sortable or
 * filterable has a column of its name, with an index `TABLE_COLUMN`. A field that ignores case also has a case-folded
 * column, `FIELD folded`. The adapter writes them (see `records/record-rows.ts`). The text comes last, because what stands
 * behind a long one costs a walk through its pages. `created_at` and `updated_at` have an index too. Every index of
 * SQLite ends with the id.
 *
 * A table that has lists or attributes by which clients filter has `TABLE_values`: a row for each different value of a
 * list in a record, and one for each attribute, whose field is `attributes.KEY` (see `records/record-rows.ts`).
 *
 * `counters` has the next id of each table. The generation of the store is there too, so that a restored backup of any
 * release can get one.
 *
 * `change` numbers the last change of a record, and its deletion in `tombstones`: those of a table in the order of their
 * commits. It is null if no feed was written then. `feeds` has a row for each feed that is written (see
 * `records/change-feed.ts`).
 *
 * A table that can be searched has its words in `TABLE_words` (see `sql/words.ts`). `TABLE_terms` shows them in their
 * order.
 *
 * `derived` has a row for each table of records: the `DERIVED_VERSION` of what is derived from them, which still is to be
 * made for the ids after `done_to` up to `old_to` (see `records/derived-data.ts`). A step adds an empty column for a field.
 */
export const MIGRATIONS: readonly Migration[] = [
  // Numbers of steps that were never released, here and below.
  ...Array.from({ length: RELEASED - 1 }, () => ''),
  `
  CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    next_id INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE tombstones (
    resource TEXT NOT NULL,
    id INTEGER NOT NULL,
    deleted_at INTEGER NOT NULL,
    PRIMARY KEY (resource, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tombstones_age ON tombstones (resource, deleted_at);
  CREATE TABLE reservations (
    resource TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    id INTEGER NOT NULL,
    reserved_at INTEGER NOT NULL,
    fields TEXT,
    PRIMARY KEY (resource, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX reservations_age ON reservations (resource, reserved_at);

  ${releasedTable('products')}
  ALTER TABLE products ADD COLUMN "name" TEXT AS (fields ->> 'name') VIRTUAL;
  ALTER TABLE products ADD COLUMN "sku" TEXT AS (fields ->> 'sku') VIRTUAL;
  ALTER TABLE products ADD COLUMN "price.amount" INTEGER AS (fields ->> '$.price.amount') VIRTUAL;
  ALTER TABLE products ADD COLUMN "price.currency" TEXT AS (fields ->> '$.price.currency') VIRTUAL;
  CREATE UNIQUE INDEX products_sku ON products ("sku") WHERE "sku" IS NOT NULL;
  CREATE INDEX products_name ON products ("name");
  CREATE INDEX products_price_amount ON products ("price.amount") WHERE "price.amount" IS NOT NULL;
  CREATE INDEX products_price_currency ON products ("price.currency") WHERE "price.currency" IS NOT NULL;

  ${releasedTable(
    'users',
    `"name" TEXT AS (fields ->> 'name') VIRTUAL`,
    `"email" TEXT AS (fields ->> 'email') VIRTUAL`,
    `"email folded" TEXT AS (lower(fields ->> 'email')) VIRTUAL`,
  )}
  CREATE UNIQUE INDEX users_email_folded ON users ("email folded");
  CREATE INDEX users_name ON users ("name");
  CREATE INDEX users_email ON users ("email");

  ${releasedTable('orders', `"userId" INTEGER AS (fields ->> 'userId') VIRTUAL`)}
  CREATE INDEX orders_userId ON orders ("userId");

  ${releasedTable('api_keys')}
  ALTER TABLE api_keys ADD COLUMN "digest" TEXT AS (fields ->> 'digest') VIRTUAL;
  ALTER TABLE api_keys ADD COLUMN "name" TEXT AS (fields ->> 'name') VIRTUAL;
  CREATE UNIQUE INDEX api_keys_digest ON api_keys ("digest");
  CREATE INDEX api_keys_name ON api_keys ("name");

  ${releasedTable('signing_keys', `"kid" TEXT AS (fields ->> 'kid') VIRTUAL`)}
  CREATE UNIQUE INDEX signing_keys_kid ON signing_keys ("kid");
  `,
  ...Array.from({ length: LAST_TAKEN - RELEASED }, () => ''),
  makeColumns,
];

/** A table of records of the first release, whose text `schema-check.ts` compares: SQLite appends columns added later. */
function releasedTable(name: string, ...columns: string[]): string {
  const times = ['created_at INTEGER NOT NULL', 'updated_at INTEGER NOT NULL'];
  const all = ['id INTEGER PRIMARY KEY', 'version INTEGER NOT NULL', ...times, 'fields TEXT NOT NULL', ...columns];
  return `CREATE TABLE ${name} (
    ${all.join(',\n    ')}
  ) STRICT;
  CREATE INDEX ${name}_created_at ON ${name} (created_at);
  CREATE INDEX ${name}_updated_at ON ${name} (updated_at);`;
}

/** Takes the steps behind the first `from`; yields what is done after each part. */
export function* migrate(connection: Database.Database, from: number, to = MIGRATIONS.length): Generator<string, void> {
  for (const [at, step] of MIGRATIONS.slice(from, to).entries()) {
    if (typeof step === 'string') connection.exec(step);
    else yield* step(connection, from);
    yield `step ${from + at + 1} taken`;
  }
}

/** The columns of each table's fields. The name says where the value is in the text of the fields. */
const COLUMNS = {
  products: `"name" TEXT, "sku" TEXT, "price.amount" INTEGER, "price.currency" TEXT, "status" TEXT, "brand" TEXT,
      "gtin" TEXT, "gtin folded" TEXT, "group" TEXT, "stock" INTEGER,`,
  users: '"name" TEXT, "email" TEXT, "email folded" TEXT,',
  orders: '"userId" INTEGER,',
  api_keys: '"digest" TEXT, "name" TEXT, "createdBy" INTEGER,',
  signing_keys: '"kid" TEXT,',
  webhooks: '"name" TEXT, "createdBy" INTEGER,',
  webhook_states: '',
};

/** Programs of the first release know no numbers of changes, so they must not delete. */
const RENAME_TOMBSTONES = `
  ALTER TABLE tombstones RENAME COLUMN deleted_at TO removed_at;
  ALTER TABLE tombstones ADD COLUMN version INTEGER;
  ALTER TABLE tombstones ADD COLUMN change INTEGER;
`;

const NEW_TABLES = `
  CREATE TABLE IF NOT EXISTS webhooks (id INTEGER PRIMARY KEY, version, created_at, updated_at, change, fields);
  CREATE TABLE IF NOT EXISTS webhook_states (id INTEGER PRIMARY KEY, version, created_at, updated_at, change, fields);

  CREATE TABLE IF NOT EXISTS api_key_usage (
    key_id INTEGER NOT NULL,
    hour INTEGER NOT NULL,
    counter TEXT NOT NULL,
    routes TEXT NOT NULL,
    PRIMARY KEY (key_id, hour, counter)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS api_key_usage_age ON api_key_usage (hour);

  CREATE TABLE IF NOT EXISTS feeds (
    resource TEXT PRIMARY KEY,
    epoch TEXT NOT NULL,
    floor INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS tombstones_change ON tombstones (resource, change) WHERE change IS NOT NULL;

  CREATE TABLE IF NOT EXISTS products_values (
    field TEXT NOT NULL,
    value ANY NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (field, value, id)
  ) STRICT, WITHOUT ROWID;

  DROP TABLE IF EXISTS value_indexes;
  DROP TABLE IF EXISTS stale_words;
  DROP TABLE IF EXISTS word_indexes;
  CREATE TABLE derived (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    done_to INTEGER NOT NULL,
    old_to INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    taken_at INTEGER NOT NULL,
    records INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

const NEW_INDEXES = `
  CREATE INDEX IF NOT EXISTS products_status ON products ("status") WHERE "status" IS NOT NULL;
  CREATE INDEX IF NOT EXISTS products_brand ON products ("brand") WHERE "brand" IS NOT NULL;
  CREATE INDEX IF NOT EXISTS products_gtin ON products ("gtin") WHERE "gtin" IS NOT NULL;
  CREATE INDEX IF NOT EXISTS products_gtin_folded ON products ("gtin folded") WHERE "gtin folded" IS NOT NULL;
  CREATE INDEX IF NOT EXISTS products_group ON products ("group") WHERE "group" IS NOT NULL;
  CREATE INDEX IF NOT EXISTS products_stock ON products ("stock") WHERE "stock" IS NOT NULL;
  CREATE INDEX IF NOT EXISTS api_keys_createdBy ON api_keys ("createdBy") WHERE "createdBy" IS NOT NULL;
  CREATE INDEX IF NOT EXISTS webhooks_name ON webhooks ("name");
  CREATE INDEX IF NOT EXISTS webhooks_createdBy ON webhooks ("createdBy");
`;

/**
 * Makes the index of the words of a table anew. By default, FTS5 rewrites a part of the index as soon as a tenth of its records were
 * replaced: replacing the words of every record takes four times as long. Without that, searches pass more dead
 * entries, and take up to half as long again.
 */
const newWords = (table: string) => `
  DROP TABLE IF EXISTS ${table}_terms;
  DROP TABLE IF EXISTS ${table}_words;
  CREATE VIRTUAL TABLE ${table}_words USING fts5(
    words, content='', contentless_delete=1, detail=none, tokenize='ascii');
  CREATE VIRTUAL TABLE ${table}_terms USING fts5vocab(${table}_words, instance);
  INSERT INTO ${table}_words (${table}_words, rank) VALUES ('deletemerge', 30);
`;

/** The records of one part of long work: about a millisecond, or 20 if they are large. */
const BATCH = 128;

/**
 * Brings files of the first release, and of the last builds after it, to one schema. Their programs would leave columns
 * empty, so the version that they write has another name. They may read on: `version` shows it.
 */
function* makeColumns(connection: Database.Database, from: number): Generator<string, void> {
  // In KiB, for indexes that are filled in another order than their own. It belongs to the connection.
  connection.exec('PRAGMA cache_size = -65536');
  const isReleased = from <= RELEASED;
  connection.exec(isReleased ? RENAME_TOMBSTONES + NEW_TABLES : NEW_TABLES);
  for (const [table, columns] of Object.entries(COLUMNS))
    yield* copyTable(connection, table, columns, isReleased ? 'NULL' : 'change');
  connection.exec(NEW_INDEXES);
  connection.exec(`${newWords('products')} ${newWords('users')} PRAGMA cache_size = -2000`);
  for (const table of Object.keys(COLUMNS))
    connection.exec(`INSERT INTO derived
      SELECT '${table}', iif(EXISTS (SELECT 1 FROM ${table}), 0, ${DERIVED_VERSION}), 0, 0`);
}

/** Each part frees the pages that the next one fills, so the file hardly grows. */
function* copyTable(
  connection: Database.Database,
  table: string,
  columns: string,
  change: string,
): Generator<string, void> {
  const find = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?";
  const indexes = rowsOf<[name: string, sql: string]>(connection, find, table);
  connection.exec(`
    CREATE TABLE new_${table} (
      id INTEGER PRIMARY KEY,
      record_version INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      change INTEGER,
      ${columns}
      fields TEXT NOT NULL,
      version INTEGER AS (record_version) VIRTUAL
    ) STRICT;
    ${indexes.map(([name]) => `DROP INDEX ${name};`).join('')}`);
  const values = columns.replaceAll(/"([^" ]+)( folded)?" [A-Z]+/g, (_, field: string, folded?: string) => {
    const value = `fields ->> '$.${field}'`;
    // Other folded columns than that of e-mails are made again, as all derived data is.
    return folded ? `lower(${value})` : value;
  });
  const copy = connection.prepare(`INSERT INTO new_${table}
    SELECT id, version, created_at, updated_at, ${change}, ${values} fields FROM ${table} ORDER BY id LIMIT ${BATCH}`);
  const remove = connection.prepare(`DELETE FROM ${table} WHERE id <= (SELECT max(id) FROM new_${table})`);
  for (let rows = copy.run().changes; remove.run().changes > 0; rows += copy.run().changes)
    yield `${rows} ${table} copied`;
  connection.exec(`DROP TABLE ${table}; ALTER TABLE new_${table} RENAME TO ${table}`);
  for (const [name, sql] of indexes) {
    connection.exec(sql);
    yield `index ${name} made`;
  }
  connection.exec(`
    CREATE INDEX IF NOT EXISTS ${table}_created_at ON ${table} (created_at);
    CREATE INDEX IF NOT EXISTS ${table}_updated_at ON ${table} (updated_at);
    CREATE INDEX IF NOT EXISTS ${table}_change ON ${table} (change) WHERE change IS NOT NULL`);
}

/** Marks a file as a database of this service (`PRAGMA application_id`): the letters `pcs1`. */
export const APPLICATION_ID = 0x70637331;

/** The random name of a new epoch of a feed, of letters and digits. */
export const NEW_EPOCH = 'lower(hex(randomblob(16)))';

/** Makes all positions of the feeds expire. */
export const RESET_FEEDS = `UPDATE feeds SET epoch = ${NEW_EPOCH}`;

/** Begins a new generation of the store: a random number of 40 bits. */
export const RENEW_GENERATION = `INSERT INTO counters VALUES ('generation', random() & 0xffffffffff)
  ON CONFLICT DO UPDATE SET next_id = excluded.next_id`;

/** Reads it, if the store has one, as 10 hexadecimal digits. */
export const READ_GENERATION = `SELECT format('%010x', next_id) FROM counters WHERE name = 'generation'`;

/**
 * What is done to a restored database of a schema, by table. Clients know versions and changes that it does not have; and
 * the database of the backup may still send webhooks.
 */
export function afterRestore(schema: number): Readonly<Record<string, string>> {
  const version = schema > FIRST_TAKEN ? 'record_version' : 'stored_version';
  return {
    counters: RENEW_GENERATION,
    feeds: RESET_FEEDS,
    webhooks: `UPDATE webhooks SET ${version} = ${version} + 1, fields = json_set(fields, '$.status', 'paused')
      WHERE fields ->> 'status' <> 'paused'`,
  };
}
