import Database from 'libsql';
import { uniqueColumnOf, valuesTable } from '#src/adapters/outbound/sql/keyset.js';
import { migrate } from '#src/adapters/outbound/sqlite/connection/migrations.js';
import { columnsOf, indexName } from '#src/adapters/outbound/sqlite/sql/schema.js';
import type { RecordTable } from '#src/application/ports/list-query.js';
import { TABLES } from '#src/composition/tables.js';
import { attributeFields, type FieldSpec, listFields } from '#src/domain/fields.js';

/** The path of the file with the steps of the SQLite schema, from the root of the project. */
export const MIGRATIONS_FILE = 'src/adapters/outbound/sqlite/connection/migrations.ts';

/** What a database has: the definition of each table and index, and the columns of each table, by name. */
interface Schema {
  readonly columns: ReadonlyMap<string, readonly string[]>;
  readonly indexes: ReadonlyMap<string, string>;
}

/** What every table of records has before the columns of its fields, and behind them. */
const [FIRST, LAST] = [
  [
    'id INTEGER PRIMARY KEY',
    'record_version INTEGER NOT NULL',
    'created_at INTEGER NOT NULL',
    'updated_at INTEGER NOT NULL',
    'change INTEGER',
  ],
  ['fields TEXT NOT NULL', 'version INTEGER AS (record_version) VIRTUAL'],
];
const OWN_COLUMNS = [...FIRST, ...LAST].map((definition) => definition.split(' ', 1)[0] ?? '');

/** Returns the SQL that the tables demand and the steps so far do not make, one statement a line; empty if nothing is missing. */
export function nextStep(tables: readonly RecordTable[] = TABLES): string {
  const schema = currentSchema();
  return tables
    .flatMap((table) => [
      ...missingColumns(table, schema),
      ...missingIndexes(table, schema),
      ...missingValues(table, schema),
      ...missingWords(table, schema),
      ...(schema.columns.has(table.name) ? [] : [`INSERT INTO derived VALUES ('${table.name}', 0, 0, 0);`]),
    ])
    .join('\n');
}

/** Returns the columns and indexes of fields that the steps make and no table demands. */
export function surplus(tables: readonly RecordTable[] = TABLES): string[] {
  const { columns, indexes } = currentSchema();
  const demanded = new Set(tables.flatMap((table) => indexesOf(table).map(({ name }) => name)));
  return tables.flatMap((table) => {
    const names = [...OWN_COLUMNS, ...columnsOf(table).map(({ name }) => unquoted(name))];
    return [
      ...(columns.get(table.name) ?? [])
        .filter((name) => !names.includes(name))
        .map((name) => `${table.name}.${name}`),
      ...[...indexes.keys()].filter((name) => name.startsWith(`${table.name}_`) && !demanded.has(name)),
    ];
  });
}

/** Returns the text of the file of migrations with one more step. */
export function withStep(file: string, step: string): string {
  const lines = step.split('\n').map((line) => `  ${line}\n`);
  return file.replace(
    /(MIGRATIONS: readonly Migration\[\] = \[\n.*?)(\n\];)/s,
    (_, steps: string, end: string) => `${steps}\n  \`\n${lines.join('')}  \`,${end}`,
  );
}

function currentSchema(): Schema {
  const database = new Database(':memory:');
  try {
    for (const _ of migrate(database, 0));
    const rows = (sql: string) => database.prepare(sql).raw().all() as [string, string][];
    const columns = new Map<string, string[]>();
    for (const [table, column] of rows(
      "SELECT t.name, c.name FROM pragma_table_list t, pragma_table_xinfo(t.name) c WHERE t.schema = 'main'",
    ))
      columns.set(table, [...(columns.get(table) ?? []), column]);
    return {
      columns,
      indexes: new Map(rows("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")),
    };
  } finally {
    database.close();
  }
}

function missingColumns(table: RecordTable, { columns }: Schema): string[] {
  const existing = columns.get(table.name);
  const missing = columnsOf(table).filter(({ name }) => !existing?.includes(unquoted(name)));
  const definitions = missing.map(({ name, type }) => `${name} ${type}`);
  if (!existing)
    return [
      `CREATE TABLE ${table.name} (\n  ${[...FIRST, ...definitions, ...LAST].join(',\n  ')}\n) STRICT;`,
    ];
  return definitions.map((definition) => `ALTER TABLE ${table.name} ADD COLUMN ${definition};`);
}

function missingIndexes(table: RecordTable, { indexes }: Schema): string[] {
  return indexesOf(table)
    .filter(({ name, sql }) => indexes.get(name) !== sql)
    .flatMap(({ name, sql }) => [...(indexes.has(name) ? [`DROP INDEX ${name};`] : []), `${sql};`]);
}

function indexesOf(table: RecordTable): { readonly name: string; readonly sql: string }[] {
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
  return [
    ...ofFields,
    { name, sql: `CREATE INDEX ${name} ON ${table.name} (change) WHERE change IS NOT NULL` },
  ];
}

const TIME: FieldSpec = { type: 'instant', required: true };

function missingValues({ name, fields }: RecordTable, { columns }: Schema): string[] {
  const hasValues = listFields(fields).length + attributeFields(fields).length > 0;
  if (!hasValues || columns.has(valuesTable(name))) return [];
  return [
    `CREATE TABLE ${valuesTable(name)} (`,
    '  field TEXT NOT NULL,',
    '  value ANY NOT NULL,',
    '  id INTEGER NOT NULL,',
    '  PRIMARY KEY (field, value, id)',
    ') STRICT, WITHOUT ROWID;',
  ];
}

function missingWords({ name, searched }: RecordTable, { columns }: Schema): string[] {
  if (searched.length === 0 || columns.has(`${name}_words`)) return [];
  return [
    `CREATE VIRTUAL TABLE ${name}_words USING fts5(`,
    "  words, content='', contentless_delete=1, detail=none, tokenize='ascii');",
    `CREATE VIRTUAL TABLE ${name}_terms USING fts5vocab(${name}_words, instance);`,
  ];
}

function unquoted(column: string): string {
  return column.replaceAll('"', '');
}
