import type Database from 'libsql';

/** Statements, or a function that yields what it has done between parts of long work. */
export type Migration = string | ((connection: Database.Database) => Iterable<string>);

/**
 * The schema, as steps; `PRAGMA user_version` counts the steps that a file has. A released step never changes: append
 * a new one.
 *
 * Every resource has a table of the same shape, with its fields in one JSON text. A field that is unique, sortable or
 * filterable has a column of its name, with an index `TABLE_COLUMN`. A field that ignores case also has a case-folded
 * column, `FIELD folded`. The adapter writes them (see `records/row-writer.ts`). The text comes last, because what stands
 * behind a long one costs a walk through its pages. `created_at` and `updated_at` have an index too. Every index of
 * SQLite ends with the id.
 *
 * A table that has lists or attributes by which clients filter has `TABLE_values`: a row for each different value of a
 * list in a record, and one for each attribute, whose field is `attributes.KEY` (see `records/value-index.ts`).
 *
 * `counters` has the next id of each table. The generation of the store is there too, so that a restored backup of any
 * release can get one.
 *
 * `change` numbers the last change of a record, and its deletion in `tombstones`: those of a table in the order of their
 * commits. It is null if no feed was written then. `feeds` has a row for each feed that is written (see
 * `records/change-feed.ts`).
 *
 * A table that can be searched has its words in `TABLE_words` (see `full-text/index.ts`). `TABLE_terms` shows them in their
 * order. `word_indexes` says by which version of the tokenizer they were made (`rules`), and that the words of the ids
 * after `done_to` up to `old_to` are still to be made. Earlier builds noted the ids of older words in `stale_words`.
 */
export const MIGRATIONS: readonly Migration[] = [
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

  CREATE TABLE products (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    fields TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX products_sku ON products (fields ->> 'sku');

  CREATE TABLE api_keys (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    fields TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX api_keys_digest ON api_keys (fields ->> 'digest');
  `,
  `
  DROP INDEX products_sku;
  ALTER TABLE products ADD COLUMN "name" TEXT AS (fields ->> 'name') VIRTUAL;
  ALTER TABLE products ADD COLUMN "sku" TEXT AS (fields ->> 'sku') VIRTUAL;
  ALTER TABLE products ADD COLUMN "price.amount" INTEGER AS (fields ->> '$.price.amount') VIRTUAL;
  ALTER TABLE products ADD COLUMN "price.currency" TEXT AS (fields ->> '$.price.currency') VIRTUAL;
  CREATE UNIQUE INDEX products_sku ON products ("sku") WHERE "sku" IS NOT NULL;
  CREATE INDEX products_name ON products ("name");
  CREATE INDEX products_price_amount ON products ("price.amount") WHERE "price.amount" IS NOT NULL;
  CREATE INDEX products_price_currency ON products ("price.currency") WHERE "price.currency" IS NOT NULL;
  CREATE INDEX products_created_at ON products (created_at);
  CREATE INDEX products_updated_at ON products (updated_at);

  CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    fields TEXT NOT NULL,
    "name" TEXT AS (fields ->> 'name') VIRTUAL,
    "email" TEXT AS (fields ->> 'email') VIRTUAL,
    "email folded" TEXT AS (lower(fields ->> 'email')) VIRTUAL
  ) STRICT;
  CREATE UNIQUE INDEX users_email_folded ON users ("email folded");
  CREATE INDEX users_name ON users ("name");
  CREATE INDEX users_email ON users ("email");
  CREATE INDEX users_created_at ON users (created_at);
  CREATE INDEX users_updated_at ON users (updated_at);

  CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    fields TEXT NOT NULL,
    "userId" INTEGER AS (fields ->> 'userId') VIRTUAL
  ) STRICT;
  CREATE INDEX orders_userId ON orders ("userId");
  CREATE INDEX orders_created_at ON orders (created_at);
  CREATE INDEX orders_updated_at ON orders (updated_at);

  DROP INDEX api_keys_digest;
  ALTER TABLE api_keys ADD COLUMN "digest" TEXT AS (fields ->> 'digest') VIRTUAL;
  CREATE UNIQUE INDEX api_keys_digest ON api_keys ("digest");
  CREATE INDEX api_keys_created_at ON api_keys (created_at);
  CREATE INDEX api_keys_updated_at ON api_keys (updated_at);
  `,
  `
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
  CREATE INDEX tombstones_age ON tombstones (resource, deleted_at);
  `,
  `
  ALTER TABLE api_keys ADD COLUMN "name" TEXT AS (fields ->> 'name') VIRTUAL;
  CREATE INDEX api_keys_name ON api_keys ("name");

  CREATE TABLE signing_keys (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    fields TEXT NOT NULL,
    "kid" TEXT AS (fields ->> 'kid') VIRTUAL
  ) STRICT;
  CREATE UNIQUE INDEX signing_keys_kid ON signing_keys ("kid");
  CREATE INDEX signing_keys_created_at ON signing_keys (created_at);
  CREATE INDEX signing_keys_updated_at ON signing_keys (updated_at);
  `,
  `
  CREATE TABLE api_key_usage (
    key_id INTEGER NOT NULL,
    hour INTEGER NOT NULL,
    counter TEXT NOT NULL,
    routes TEXT NOT NULL,
    PRIMARY KEY (key_id, hour, counter)
  ) STRICT;
  CREATE INDEX api_key_usage_age ON api_key_usage (hour);
  `,
  `
  CREATE VIRTUAL TABLE products_words USING fts5(
    words, content='', contentless_delete=1, detail=none, tokenize='ascii');
  CREATE VIRTUAL TABLE products_terms USING fts5vocab(products_words, instance);
  CREATE VIRTUAL TABLE users_words USING fts5(
    words, content='', contentless_delete=1, detail=none, tokenize='ascii');
  CREATE VIRTUAL TABLE users_terms USING fts5vocab(users_words, instance);

  CREATE TABLE word_indexes (
    name TEXT PRIMARY KEY,
    rules INTEGER NOT NULL,
    done_to INTEGER NOT NULL,
    old_to INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO word_indexes VALUES ('products', 0, 0, 0), ('users', 0, 0, 0);

  CREATE TABLE stale_words (
    name TEXT NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (name, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE wordy_records (
    name TEXT NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (name, id)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE api_keys ADD COLUMN "createdBy" INTEGER AS (fields ->> 'createdBy') VIRTUAL;
  CREATE INDEX api_keys_createdBy ON api_keys ("createdBy") WHERE "createdBy" IS NOT NULL;
  `,
  `
  DROP TABLE wordy_records;
  `,
  // Without it, FTS5 rewrites a part of the index as soon as a tenth of its records were replaced: replacing the words of
  // every record takes four times as long. Searches pass more dead entries, and take up to half as long again.
  `
  INSERT INTO products_words (products_words, rank) VALUES ('deletemerge', 30);
  INSERT INTO users_words (users_words, rank) VALUES ('deletemerge', 30);
  `,
  `
  ALTER TABLE products ADD COLUMN "status" TEXT AS (fields ->> 'status') VIRTUAL;
  ALTER TABLE products ADD COLUMN "brand" TEXT AS (fields ->> 'brand') VIRTUAL;
  ALTER TABLE products ADD COLUMN "gtin" TEXT AS (fields ->> 'gtin') VIRTUAL;
  ALTER TABLE products ADD COLUMN "group" TEXT AS (fields ->> 'group') VIRTUAL;
  ALTER TABLE products ADD COLUMN "stock" INTEGER AS (fields ->> 'stock') VIRTUAL;
  CREATE INDEX products_status ON products ("status") WHERE "status" IS NOT NULL;
  CREATE INDEX products_brand ON products ("brand") WHERE "brand" IS NOT NULL;
  CREATE INDEX products_gtin ON products ("gtin") WHERE "gtin" IS NOT NULL;
  CREATE INDEX products_group ON products ("group") WHERE "group" IS NOT NULL;
  CREATE INDEX products_stock ON products ("stock") WHERE "stock" IS NOT NULL;
  CREATE TABLE products_values (
    field TEXT NOT NULL,
    value ANY NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (field, value, id)
  ) STRICT, WITHOUT ROWID;
  `,
  // Programs of the releases before know no numbers of changes: a write without one would be missing in a feed. So the
  // columns that they write have other names. They may read on: `version` shows the renamed column.
  `
  CREATE TABLE feeds (
    resource TEXT PRIMARY KEY,
    epoch TEXT NOT NULL,
    floor INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  ALTER TABLE tombstones RENAME COLUMN deleted_at TO removed_at;
  ALTER TABLE tombstones ADD COLUMN version INTEGER;
  ALTER TABLE tombstones ADD COLUMN change INTEGER;
  CREATE INDEX tombstones_change ON tombstones (resource, change) WHERE change IS NOT NULL;
${['products', 'users', 'orders', 'api_keys', 'signing_keys']
  .map(
    (table) => `
  ALTER TABLE ${table} RENAME COLUMN version TO stored_version;
  ALTER TABLE ${table} ADD COLUMN version INTEGER AS (stored_version) VIRTUAL;
  ALTER TABLE ${table} ADD COLUMN change INTEGER;
  CREATE INDEX ${table}_change ON ${table} (change) WHERE change IS NOT NULL;
`,
  )
  .join('')}`,
  `
  CREATE TABLE webhooks (
    id INTEGER PRIMARY KEY,
    stored_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    fields TEXT NOT NULL,
    version INTEGER AS (stored_version) VIRTUAL,
    change INTEGER,
    "name" TEXT AS (fields ->> 'name') VIRTUAL,
    "createdBy" INTEGER AS (fields ->> 'createdBy') VIRTUAL
  ) STRICT;
  CREATE INDEX webhooks_name ON webhooks ("name");
  CREATE INDEX webhooks_createdBy ON webhooks ("createdBy");
  CREATE INDEX webhooks_created_at ON webhooks (created_at);
  CREATE INDEX webhooks_updated_at ON webhooks (updated_at);
  CREATE INDEX webhooks_change ON webhooks (change) WHERE change IS NOT NULL;
  CREATE TABLE webhook_states (
    id INTEGER PRIMARY KEY,
    stored_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    fields TEXT NOT NULL,
    version INTEGER AS (stored_version) VIRTUAL,
    change INTEGER
  ) STRICT;
  CREATE INDEX webhook_states_created_at ON webhook_states (created_at);
  CREATE INDEX webhook_states_updated_at ON webhook_states (updated_at);
  CREATE INDEX webhook_states_change ON webhook_states (change) WHERE change IS NOT NULL;
  `,
  `
  CREATE TABLE value_indexes (
    name TEXT PRIMARY KEY,
    done_to INTEGER NOT NULL,
    old_to INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO value_indexes SELECT 'products', 0, coalesce(max(id), 0) FROM products;
  `,
  makeColumnsReal,
];

/** Takes the steps behind the first `from`; yields what is done after each part. */
export function* migrate(
  connection: Database.Database,
  from: number,
  to = MIGRATIONS.length,
): Generator<string, void> {
  for (const [at, step] of MIGRATIONS.slice(from, to).entries()) {
    if (typeof step === 'string') connection.exec(step);
    else yield* step(connection);
    yield `step ${from + at + 1} taken`;
  }
}

/** The step before which the columns of fields were generated from the text, at each look at them. */
const GENERATED_UNTIL = 13;

/** The records of one part of long work: about a millisecond, or 20 if they are large. */
const BATCH = 128;

/**
 * Makes columns of what was generated, and the rows of attributes that are missing. Programs of before would leave the
 * columns empty, so the version that they write has another name once more.
 */
function* makeColumnsReal(connection: Database.Database): Generator<string, void> {
  const tables = ['products', 'users', 'orders', 'api_keys', 'signing_keys', 'webhooks', 'webhook_states'];
  // In KiB, for indexes that are filled in another order than their own. It belongs to the connection.
  connection.exec('PRAGMA cache_size = -65536');
  for (const table of tables) yield* copyTable(connection, table);
  yield* addAttributes(connection);
  connection.exec('DROP TABLE value_indexes; PRAGMA cache_size = -2000');
}

/** Each part frees the pages that the next one fills, so the file hardly grows. */
function* copyTable(connection: Database.Database, table: string): Generator<string, void> {
  const pairs = (sql: string) => connection.prepare(sql).raw().all(table) as [string, string][];
  const columns = pairs(
    "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden <> 0 AND name <> 'version' ORDER BY cid",
  );
  const indexes = pairs("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?");
  connection.exec(`
    CREATE TABLE new_${table} (
      id INTEGER PRIMARY KEY,
      record_version INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      change INTEGER,
      ${columns.map(([name, type]) => `"${name}" ${type},`).join(' ')}
      fields TEXT NOT NULL,
      version INTEGER AS (record_version) VIRTUAL
    ) STRICT;
    ${indexes.map(([name]) => `DROP INDEX ${name};`).join('')}`);
  const copy =
    connection.prepare(`INSERT INTO new_${table} SELECT id, version, created_at, updated_at, change,
    ${columns.map(([name]) => `"${name}",`).join(' ')} fields FROM ${table} ORDER BY id LIMIT ${BATCH}`);
  const remove = connection.prepare(`DELETE FROM ${table} WHERE id <= (SELECT max(id) FROM new_${table})`);
  for (let rows = copy.run().changes; remove.run().changes > 0; rows += copy.run().changes)
    yield `${rows} ${table} copied`;
  connection.exec(`DROP TABLE ${table}; ALTER TABLE new_${table} RENAME TO ${table}`);
  for (const [name, sql] of indexes) {
    connection.exec(sql);
    yield `index ${name} made`;
  }
}

/** Numbers are read here, because SQLite may read them with another last bit. */
function* addAttributes(connection: Database.Database): Generator<string, void> {
  const add = connection.prepare('INSERT OR IGNORE INTO products_values VALUES (?, ?, ?)');
  const next = connection.prepare(`SELECT id, fields -> '$.attributes' FROM products
    WHERE id > ? AND id <= (SELECT old_to FROM value_indexes) ORDER BY id LIMIT ${BATCH}`);
  let [[last = 0] = []] = connection.prepare('SELECT done_to FROM value_indexes').raw().all() as [number?][];
  for (let added = 0; ; yield `attributes of ${added} products added`) {
    const rows = next.raw().all(last) as [number, string | null][];
    for (const [id, json] of rows)
      for (const [key, value] of Object.entries(JSON.parse(json ?? '{}') ?? {}))
        add.run(`attributes.${key}`, typeof value === 'boolean' ? Buffer.of(Number(value)) : value, id);
    if (rows.length < BATCH) return;
    last = rows.at(-1)?.[0] ?? last;
    added += rows.length;
  }
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
  const version = schema > GENERATED_UNTIL ? 'record_version' : 'stored_version';
  return {
    counters: RENEW_GENERATION,
    feeds: RESET_FEEDS,
    webhooks: `UPDATE webhooks SET ${version} = ${version} + 1, fields = json_set(fields, '$.status', 'paused')
      WHERE fields ->> 'status' <> 'paused'`,
  };
}

/**
 * The statements that start to make all words of a table again. Without the first one, which takes 30 ms for a million
 * records, each search would pass the deleted words for long. The second has the version of the tokenizer as parameter.
 */
export function restartWords(table: string): readonly [string, string] {
  return [
    `INSERT INTO ${table}_words (${table}_words) VALUES ('delete-all')`,
    `UPDATE word_indexes SET rules = ?, done_to = 0, old_to = coalesce((SELECT max(id) FROM ${table}), 0)
      WHERE name = '${table}'`,
  ];
}
