/**
 * The name of a generation, from the row of `generation`. It changes where {@link EPOCH} does; but each read needs it, so
 * it is there on a standby too, and at providers that forbid the functions of a place. It is a part of a step.
 */
export const GENERATION = `left(encode(sha256(convert_to(
  concat_ws(' ', epoch, tableoid, generation_place()), 'UTF8')), 'hex'), 10)`;

/**
 * The epoch of a row of `feeds`. It also changes on another server, in another database, after a standby has taken the
 * place of its primary (another timeline), and with a dump that was restored (another table). It is
 * a part of a step.
 */
export const EPOCH = `left(encode(sha256(convert_to(concat_ws(' ', epoch, tableoid,
  (SELECT oid FROM pg_database WHERE datname = current_database()),
  (SELECT system_identifier FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)), 'UTF8')), 'hex'), 32)`;

/** A table of records, in a step. @param columns its own, each with its type */
const records = (name: string, ...columns: string[]) => `
  CREATE TABLE ${name} (
    id bigint PRIMARY KEY,
    version bigint,
    created_at bigint,
    updated_at bigint,
    deleted_at bigint,
    fields text COLLATE "C",
    ${['derived integer', ...columns].join(',\n    ').replaceAll(/ text(\[\])?(?=,|$)/g, '$& COLLATE "C"')}
  );
  CREATE INDEX ${name}_live ON ${name} (id) WHERE deleted_at IS NULL;
  ${indexes(name, 'created_at, updated_at')}`;

/** Indexes for lists by one column, in a step. @param columns their names, separated by commas */
const indexes = (table: string, columns: string) =>
  columns
    .split(', ')
    .map((column) => {
      const name = `${table}_${column.replace('.', '_')}`;
      return `CREATE INDEX "${name}" ON ${table} ("${column}", id) WHERE deleted_at IS NULL;`;
    })
    .join('\n  ');

/** The number of the schema of the last unreleased builds. This version takes it, and refuses lower ones. */
export const LAST_TAKEN = 11;

const TABLES = ['products', 'users', 'orders', 'api_keys', 'signing_keys', 'webhooks', 'webhook_states'];

/** What the first release with PostgreSQL has more than the last builds before it. */
const ADDED = `
  ALTER TABLE products ADD COLUMN "gtin folded" text COLLATE "C", ADD COLUMN long_text text COLLATE "C";
  ALTER TABLE users ADD COLUMN long_text text COLLATE "C";
  CREATE INDEX products_gtin_folded ON products ("gtin folded", id) WHERE deleted_at IS NULL;
  CREATE INDEX products_long_text ON products (id) WHERE deleted_at IS NULL AND words IS NULL;
  CREATE INDEX users_long_text ON users (id) WHERE deleted_at IS NULL AND words IS NULL;
  ${TABLES.map(
    (table) => `ALTER TABLE ${table} ALTER COLUMN derived SET DEFAULT 0;
  CREATE INDEX ${table}_derived ON ${table} (derived, id) WHERE deleted_at IS NULL;`,
  ).join('\n  ')}

  CREATE TABLE leases (
    name text COLLATE "C" PRIMARY KEY,
    holder text COLLATE "C" NOT NULL,
    taken_at timestamptz NOT NULL,
    records bigint NOT NULL
  );`;

const FROM_LAST_TAKEN = `DROP INDEX products_doubtful, products_outdated, users_doubtful; ${ADDED}`;

/**
 * The schema, as steps; `schema_version` counts the steps that a database has. A released step never changes: append a
 * new one. A step only adds, so that the release before works beside this one. What it adds for fields is empty until
 * derived data is made: see `DERIVED_VERSION`.
 *
 * Every resource has a table of the same shape. A row is a record, or a tombstone, which has `id` and `deleted_at` alone:
 * so one unique key decides a race between an insertion and a deletion of the same id. `fields` is the JSON text that
 * is shown; `json` or `jsonb` would lose its order and its U+0000. The further columns are derived from it by the
 * adapter (`columns.ts`), for filters and orders; `derived` is the `DERIVED_VERSION` of the process that made them, 0 if it
 * knows none. Generated columns would parse the JSON for each column, and rewrite the table when one is added.
 *
 * A column has the name of its field; a field with several spellings of a value also has `FIELD folded`. Text is compared
 * by its code points. A list is an array, and `TABLE_values` has a row for each different value of it, in the order of ids.
 * Attributes are an array of entries (`attributes.ts`), and a document in `FIELD document`. A field of which only the
 * presence counts is true or null. `words` has the words of the record, each behind the number of its block; `long_text`
 * has the text of a record with too many.
 *
 * Indexes on columns hold records alone and end with the id, but for that of the feed.
 *
 * `generation` has one row. The store has no generation while that would be the one that the row was made with,
 * `origin`: until somebody resets it, or restores it in another place.
 *
 * A table with a feed has the transaction that last changed a row in `change`, and in a tombstone the version of the
 * deletion. Triggers write both (`feed.ts`).
 */
export const MIGRATIONS: readonly string[] = [
  // Numbers of steps that were never released.
  ...Array.from({ length: LAST_TAKEN }, () => ''),
  `
  CREATE TABLE counters (
    name text COLLATE "C" PRIMARY KEY,
    next_id bigint NOT NULL
  );

  CREATE TABLE reservations (
    resource text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    reserved_at bigint NOT NULL,
    fields text COLLATE "C",
    PRIMARY KEY (resource, key)
  );
  CREATE INDEX reservations_age ON reservations (resource, reserved_at);

  CREATE TABLE api_key_usage (
    key_id bigint NOT NULL,
    hour bigint NOT NULL,
    counter text COLLATE "C" NOT NULL,
    routes text COLLATE "C" NOT NULL,
    PRIMARY KEY (key_id, hour, counter)
  );
  CREATE INDEX api_key_usage_age ON api_key_usage (hour);

  ${records(
    'products',
    `"name" text, "sku" text, "price.amount" bigint, "price.currency" text, "attributes" text[],
     "attributes document" jsonb, "status" text, "tags" text[], "images" boolean, "url" boolean,
     "brand" text, "gtin" text, "group" text, "stock" bigint, words tsvector, change xid8, deleted_version bigint`,
  )}
  CREATE TABLE products_values (
    field text COLLATE "C",
    value text COLLATE "C",
    id bigint,
    PRIMARY KEY (field, value, id)
  );
  CREATE INDEX products_tombstones ON products (deleted_at) WHERE deleted_at IS NOT NULL;
  ${indexes('products', 'name, price.amount, price.currency, status, brand, gtin, group, stock')}
  CREATE UNIQUE INDEX products_sku ON products ("sku") WHERE deleted_at IS NULL;
  CREATE INDEX products_tags_attributes ON products USING gin ("tags", "attributes") WHERE deleted_at IS NULL;
  CREATE INDEX products_words ON products USING gin (words) WHERE deleted_at IS NULL;

  ${records(
    'users',
    `"name" text, "email" text, "email folded" text, words tsvector, change xid8, deleted_version bigint`,
  )}
  CREATE INDEX users_tombstones ON users (deleted_at) WHERE deleted_at IS NOT NULL;
  ${indexes('users', 'name, email')}
  CREATE UNIQUE INDEX users_email_folded ON users ("email folded") WHERE deleted_at IS NULL;
  CREATE INDEX users_words ON users USING gin (words) WHERE deleted_at IS NULL;

  ${records('orders', '"userId" bigint, change xid8, deleted_version bigint')}
  CREATE INDEX orders_tombstones ON orders (deleted_at) WHERE deleted_at IS NOT NULL;
  ${indexes('orders', 'userId')}
  CREATE INDEX "orders_userId_created_at" ON orders ("userId", created_at DESC, id) WHERE deleted_at IS NULL;

  ${records('api_keys', '"name" text, "digest" text, "createdBy" bigint')}
  ${indexes('api_keys', 'name, createdBy')}
  CREATE UNIQUE INDEX api_keys_digest ON api_keys ("digest") WHERE deleted_at IS NULL;

  ${records('signing_keys', '"kid" text')}
  CREATE UNIQUE INDEX signing_keys_kid ON signing_keys ("kid") WHERE deleted_at IS NULL;

  CREATE TABLE feeds (
    name text COLLATE "C" PRIMARY KEY,
    epoch uuid NOT NULL,
    floor_epoch text COLLATE "C",
    floor_change xid8,
    floor_id bigint
  );

  CREATE FUNCTION feed_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.change := pg_current_xact_id();
    IF NEW.deleted_at IS NOT NULL THEN
      NEW.deleted_version := OLD.version + 1;
    END IF;
    RETURN NEW;
  END
  $$;

  CREATE FUNCTION feed_delete() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS $$
  BEGIN
    PERFORM set_config('search_path', quote_ident(TG_TABLE_SCHEMA), true);
    UPDATE feeds SET epoch = gen_random_uuid()
      WHERE name = TG_TABLE_NAME AND EXISTS (SELECT FROM gone WHERE deleted_at IS NULL);
    UPDATE feeds SET floor_epoch = ${EPOCH}, floor_change = last.change, floor_id = last.id
      FROM (SELECT change, id FROM gone WHERE change < pg_snapshot_xmax(pg_current_snapshot())
        ORDER BY change DESC, id DESC LIMIT 1) AS last
      WHERE name = TG_TABLE_NAME
        AND (floor_epoch IS DISTINCT FROM ${EPOCH} OR (floor_change, floor_id) < (last.change, last.id));
    RETURN NULL;
  END
  $$;

  CREATE FUNCTION feed_truncate() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS $$
  BEGIN
    PERFORM set_config('search_path', quote_ident(TG_TABLE_SCHEMA), true);
    UPDATE feeds SET epoch = gen_random_uuid() WHERE name = TG_TABLE_NAME;
    RETURN NULL;
  END
  $$;
  CREATE INDEX products_change ON products (change, id) WHERE change IS NOT NULL;
  CREATE INDEX users_change ON users (change, id) WHERE change IS NOT NULL;
  CREATE INDEX orders_change ON orders (change, id) WHERE change IS NOT NULL;

  ${records('webhooks', '"name" text, "createdBy" bigint')}
  ${indexes('webhooks', 'name, createdBy')}

  ${records('webhook_states')}

  CREATE FUNCTION generation_place() RETURNS text LANGUAGE plpgsql STABLE AS $$
  BEGIN
    RETURN concat_ws(' ', (SELECT oid FROM pg_database WHERE datname = current_database()),
      (SELECT system_identifier FROM pg_control_system()),
      CASE WHEN pg_is_in_recovery() THEN (SELECT upper(lpad(to_hex(timeline_id), 8, '0')) FROM pg_control_checkpoint())
        ELSE left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END);
  EXCEPTION
    WHEN insufficient_privilege OR feature_not_supported OR object_not_in_prerequisite_state THEN
      RETURN (SELECT oid FROM pg_database WHERE datname = current_database());
  END
  $$;

  CREATE TABLE generation (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    epoch uuid NOT NULL DEFAULT gen_random_uuid(),
    origin text COLLATE "C"
  );
  INSERT INTO generation DEFAULT VALUES;
  UPDATE generation SET origin = ${GENERATION};
  ${ADDED}
  `,
];

/** Returns the SQL that brings a schema of this version to the current one. */
export function stepsFrom(version: number): string {
  const first = version === LAST_TAKEN ? [FROM_LAST_TAKEN] : MIGRATIONS.slice(version, LAST_TAKEN + 1);
  const next = MIGRATIONS.slice(Math.max(version, LAST_TAKEN + 1));
  return [...first, ...next].filter((step) => step !== '').join(';\n');
}
