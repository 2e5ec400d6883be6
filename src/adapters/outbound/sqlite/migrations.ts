/**
 * The schema, one forward step a version; `PRAGMA user_version` counts the steps that a file has seen. A step that was
 * released is never changed: a new one is added behind it.
 *
 * Every resource has a table of the same shape, its fields kept as one JSON text; what is unique is an index on an
 * expression over it, named `TABLE_FIELD`.
 */
export const MIGRATIONS: readonly string[] = [
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
  CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    fields TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX users_email ON users (lower(fields ->> 'email'));

  CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    fields TEXT NOT NULL
  ) STRICT;
  `,
];

/** Marks the file as this service's own (`PRAGMA application_id`): the letters `pcs1`. */
export const APPLICATION_ID = 0x70637331;
