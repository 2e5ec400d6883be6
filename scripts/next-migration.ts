import Database from 'libsql';
import { columnsOf as postgresqlColumnsOf } from '#src/adapters/outbound/postgresql/columns.js';
import { MIGRATIONS } from '#src/adapters/outbound/postgresql/migrations.js';
import { columnOf, foldedColumnOf, uniqueColumnOf, valuesTable } from '#src/adapters/outbound/sql/keyset.js';
import { migrate } from '#src/adapters/outbound/sqlite/connection/migrations.js';
import { columnsOf, indexName } from '#src/adapters/outbound/sqlite/sql/schema.js';
import type { StoredTable } from '#src/application/ports/table-store.js';
import { TABLES } from '#src/composition/tables.js';
import { attributeFields, type FieldSpec, foldedOperators, listFields } from '#src/domain/fields.js';

/** What a database has: the columns of each table, and the definition of each index, by name. */
interface Schema {
  readonly columns: ReadonlyMap<string, readonly string[]>;
  readonly indexes: ReadonlyMap<string, string>;
}

interface Named {
  readonly name: string;
  readonly sql: string;
}

/** A store with a schema of steps, and what the tables demand of it. */
export interface SqlStore {
  /** The file with its steps, from the root of the project. */
  readonly file: string;
  /** What the steps so far make. */
  schema(): Schema;
  /** The columns of a table, each with its type. */
  columnsOf(table: StoredTable): readonly Named[];
  createTable(name: string, columns: readonly string[]): string;
  /** @param existing the indexes so far: one may serve several columns */
  indexesOf(table: StoredTable, existing: Schema['indexes']): readonly Named[];
  /** Further tables for the values and words of a table. */
  furtherTables(table: StoredTable): readonly Named[];
  /** What a new table needs besides. */
  readonly rowsOf?: (table: StoredTable) => string;
}

/** Returns the SQL that the tables demand and the steps so far do not make, one statement a line; empty if nothing is missing. */
export function nextStep(store: SqlStore, tables: readonly StoredTable[] = TABLES): string {
  const { columns, indexes } = store.schema();
  return tables
    .flatMap((table) => {
      const existing = columns.get(table.name);
      const missing = store.columnsOf(table).filter(({ name }) => !existing?.includes(unquoted(name)));
      const definitions = missing.map(({ sql }) => sql);
      return [
        ...(existing
          ? definitions.map((definition) => `ALTER TABLE ${table.name} ADD COLUMN ${definition};`)
          : [store.createTable(table.name, definitions)]),
        ...store
          .indexesOf(table, indexes)
          .filter(({ name, sql }) => indexes.get(unquoted(name)) !== unquoted(sql))
          .flatMap(({ name, sql }) => [...(indexes.has(unquoted(name)) ? [`DROP INDEX ${name};`] : []), `${sql};`]),
        ...store.furtherTables(table).flatMap(({ name, sql }) => (columns.has(name) ? [] : [sql])),
        ...(existing || !store.rowsOf ? [] : [store.rowsOf(table)]),
      ];
    })
    .join('\n');
}

/** Returns the columns and indexes that the steps make and no table demands. */
export function surplus(store: SqlStore, tables: readonly StoredTable[] = TABLES): string[] {
  const { columns, indexes } = store.schema();
  const demanded = new Set(
    tables.flatMap((table) => store.indexesOf(table, indexes).map(({ name }) => unquoted(name))),
  );
  return tables.flatMap((table) => {
    const names = store.columnsOf(table).map(({ name }) => unquoted(name));
    return [
      ...(columns.get(table.name) ?? []).filter((name) => !names.includes(name)).map((name) => `${table.name}.${name}`),
      ...[...indexes.keys()].filter((name) => name.startsWith(`${table.name}_`) && !demanded.has(name)),
    ];
  });
}

/** Returns the text of the file of migrations with one more step. */
export function withStep(file: string, step: string): string {
  const lines = step.split('\n').map((line) => `  ${line}\n`);
  return file.replace(
    /(MIGRATIONS: readonly \w+\[\] = \[\n.*?)(\n\];)/s,
    (_, steps: string, end: string) => `${steps}\n  \`\n${lines.join('')}  \`,${end}`,
  );
}

const named = (sql: string): Named => ({ name: /^"[^"]+"|^\w+/.exec(sql)?.[0] ?? '', sql });
const TIME: FieldSpec = { type: 'instant', required: true };

const SQLITE: SqlStore = {
  file: 'src/adapters/outbound/sqlite/connection/migrations.ts',

  schema() {
    const database = new Database(':memory:');
    try {
      for (const _ of migrate(database, 0));
      const rows = (sql: string) => database.prepare(sql).raw().all() as [string, string][];
      const columns = new Map<string, string[]>();
      for (const [table, column] of rows(
        "SELECT t.name, c.name FROM pragma_table_list t, pragma_table_xinfo(t.name) c WHERE t.schema = 'main'",
      ))
        columns.set(table, [...(columns.get(table) ?? []), column]);
      const indexes = rows("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL");
      return { columns, indexes: new Map(indexes.map(([name, sql]) => [name, unquoted(sql)])) };
    } finally {
      database.close();
    }
  },

  columnsOf: (table) =>
    [
      'id INTEGER PRIMARY KEY',
      'record_version INTEGER NOT NULL',
      'created_at INTEGER NOT NULL',
      'updated_at INTEGER NOT NULL',
      'change INTEGER',
      ...columnsOf(table).map(({ name, type }) => `${name} ${type}`),
      'fields TEXT NOT NULL',
      'version INTEGER AS (record_version) VIRTUAL',
    ].map(named),

  createTable: (name, columns) => `CREATE TABLE ${name} (\n  ${columns.join(',\n  ')}\n) STRICT;`,

  indexesOf(table) {
    const ofFields = columnsOf({ fields: { ...table.fields, createdAt: TIME, updatedAt: TIME } }).map(
      ({ name: column, field }) => {
        const { unique, required } = table.fields[field] ?? TIME;
        const kind = unique && column === uniqueColumnOf(table, field) ? 'UNIQUE INDEX' : 'INDEX';
        const name = indexName(table.name, column);
        const where = required ? '' : ` WHERE ${column} IS NOT NULL`;
        return { name, sql: `CREATE ${kind} ${name} ON ${table.name} (${column})${where}` };
      },
    );
    const name = indexName(table.name, 'change');
    return [...ofFields, { name, sql: `CREATE INDEX ${name} ON ${table.name} (change) WHERE change IS NOT NULL` }];
  },

  furtherTables({ name, fields, searched }) {
    const values = `CREATE TABLE ${valuesTable(name)} (
  field TEXT NOT NULL,
  value ANY NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY (field, value, id)
) STRICT, WITHOUT ROWID;`;
    const words = `CREATE VIRTUAL TABLE ${name}_words USING fts5(
  words, content='', contentless_delete=1, detail=none, tokenize='ascii');
CREATE VIRTUAL TABLE ${name}_terms USING fts5vocab(${name}_words, instance);`;
    const hasValues = listFields(fields).length + attributeFields(fields).length > 0;
    return [
      ...(hasValues ? [{ name: valuesTable(name), sql: values }] : []),
      ...(searched.length > 0 ? [{ name: `${name}_words`, sql: words }] : []),
    ];
  },

  // A new table has nothing to derive, whatever the version is when the step is taken.
  rowsOf: ({ name }) => `INSERT INTO derived VALUES ('${name}', \${DERIVED_VERSION}, 0, 0);`,
};

const POSTGRESQL: SqlStore = {
  file: 'src/adapters/outbound/postgresql/migrations.ts',

  /** Read from the text of the steps: no server is needed. */
  schema() {
    const columns = new Map<string, string[]>();
    const indexes = new Map<string, string>();
    const add = (table: string, definitions: readonly string[]) =>
      columns.set(table, [
        ...(columns.get(table) ?? []),
        ...definitions.map((definition) => unquoted(named(definition.trim()).name)),
      ]);
    for (const text of MIGRATIONS.join(';')
      .replaceAll(/\$\$.*?\$\$/gs, '')
      .split(';')) {
      const statement = text.trim().replaceAll(/\s+/g, ' ');
      const [, created, list = ''] = /^CREATE TABLE (\w+) \((.*)\)$/.exec(statement) ?? [];
      if (created) add(created, list.replaceAll(/\([^()]*\)/g, '').split(','));
      const [, altered, changes = ''] = /^ALTER TABLE (\w+) ADD COLUMN (.*)$/.exec(statement) ?? [];
      if (altered) add(altered, changes.split('ADD COLUMN '));
      const index = /^CREATE (?:UNIQUE )?INDEX (\w+)/.exec(unquoted(statement))?.[1];
      if (index) indexes.set(index, unquoted(statement));
      const [, dropped = ''] = /^DROP INDEX (.*)$/.exec(unquoted(statement)) ?? [];
      for (const name of dropped.split(', ')) indexes.delete(name);
    }
    return { columns, indexes };
  },

  columnsOf: (table) =>
    [
      ...postgresqlColumnsOf(table).map(({ name, type }) => {
        const more = { id: ' PRIMARY KEY', derived: ' DEFAULT 0' }[name] ?? '';
        return `${name} ${type}${type.startsWith('text') ? ' COLLATE "C"' : more}`;
      }),
      'deleted_at bigint',
      ...(table.hasFeed ? ['change xid8', 'deleted_version bigint'] : []),
    ].map(named),

  createTable: (name, columns) => `CREATE TABLE ${name} (\n  ${columns.join(',\n  ')}\n);`,

  indexesOf(table, indexes) {
    const { name: of, fields, searched, tombstones, hasFeed } = table;
    const index = (suffix: string, rest: string, kind = 'INDEX'): Named => {
      const name = `"${indexName(of, suffix)}"`;
      return { name, sql: `CREATE ${kind} ${name} ON ${of} ${rest}` };
    };
    const live = 'WHERE deleted_at IS NULL';
    const list = (column: string) => index(column, `(${column}, id) ${live}`);
    const ofFields = Object.entries(fields).flatMap(([field, spec]) => {
      const column = columnOf(field);
      if (spec.type === 'presence') return [];
      if (spec.isList || spec.type === 'attributes') {
        const isGin = (sql: string) => sql.includes(`${of} USING gin`) && sql.split(/[(), ]+/).includes(field);
        const gin = [...indexes].find(([, sql]) => isGin(sql));
        return [gin ? { name: gin[0], sql: gin[1] } : index(field, `USING gin (${column}) ${live}`)];
      }
      const unique = spec.unique && uniqueColumnOf(table, field);
      return [
        ...[column, ...(foldedOperators(spec) ? [foldedColumnOf(field)] : [])].map((one) =>
          one === unique ? index(one, `(${one}) ${live}`, 'UNIQUE INDEX') : list(one),
        ),
        ...(spec.reference ? [index(`${field}_created_at`, `(${column}, created_at DESC, id) ${live}`)] : []),
      ];
    });
    return [
      index('live', `(id) ${live}`),
      ...['created_at', 'updated_at', 'derived'].map(list),
      ...ofFields,
      ...(tombstones === 'expire' ? [index('tombstones', '(deleted_at) WHERE deleted_at IS NOT NULL')] : []),
      ...(hasFeed ? [index('change', '(change, id) WHERE change IS NOT NULL')] : []),
      ...(searched.length > 0
        ? [index('words', `USING gin (words) ${live}`), index('long_text', `(id) ${live} AND words IS NULL`)]
        : []),
    ];
  },

  furtherTables({ name, fields }) {
    const values = `CREATE TABLE ${valuesTable(name)} (
  field text COLLATE "C",
  value text COLLATE "C",
  id bigint,
  PRIMARY KEY (field, value, id)
);`;
    return listFields(fields).length > 0 ? [{ name: valuesTable(name), sql: values }] : [];
  },
};

/** The stores that have a column for a field. */
export const SQL_STORES = { SQLite: SQLITE, PostgreSQL: POSTGRESQL };

function unquoted(text: string): string {
  return text.replaceAll('"', '');
}
