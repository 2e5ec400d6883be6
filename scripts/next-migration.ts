import Database from 'libsql';
import { MIGRATIONS } from '#src/adapters/outbound/sqlite/connection/migrations.js';
import {
  columnOf,
  foldedColumnOf,
  indexName,
  uniqueColumnOf,
  valuesTable,
} from '#src/adapters/outbound/sqlite/sql/schema.js';
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

interface Column {
  readonly name: string;
  readonly type: 'TEXT' | 'INTEGER';
  readonly expression: string;
}

/** What every table of records has besides the columns of its fields. */
const OWN_DEFINITIONS = [
  'id INTEGER PRIMARY KEY',
  'stored_version INTEGER NOT NULL',
  'created_at INTEGER NOT NULL',
  'updated_at INTEGER NOT NULL',
  'fields TEXT NOT NULL',
  'version INTEGER AS (stored_version) VIRTUAL',
  'change INTEGER',
];
const OWN_COLUMNS = OWN_DEFINITIONS.map((definition) => definition.split(' ', 1)[0] ?? '');

/** Returns the SQL that the tables demand and the steps so far do not make, one statement a line; empty if nothing is missing. */
export function nextStep(tables: readonly RecordTable[] = TABLES): string {
  const schema = schemaAfter(MIGRATIONS);
  return tables
    .flatMap((table) => [
      ...missingColumns(table, schema),
      ...missingIndexes(table, schema),
      ...missingValues(table, schema),
      ...missingWords(table, schema),
    ])
    .join('\n');
}

/** Returns the columns and indexes of fields that the steps make and no table demands. */
export function surplus(tables: readonly RecordTable[] = TABLES): string[] {
  const { columns, indexes } = schemaAfter(MIGRATIONS);
  const demanded = new Set(tables.flatMap((table) => indexesOf(table).map(({ name }) => name)));
  return tables.flatMap((table) => {
    const names = [...OWN_COLUMNS, ...columnsOf(table).map(({ name }) => name)];
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
    /(MIGRATIONS: readonly string\[\] = \[\n.*?)(\n\];)/s,
    (_, steps: string, end: string) => `${steps}\n  \`\n${lines.join('')}  \`,${end}`,
  );
}

function schemaAfter(steps: readonly string[]): Schema {
  const database = new Database(':memory:');
  try {
    for (const step of steps) database.exec(step);
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
  const generated = columnsOf(table).filter(({ name }) => !existing?.includes(name));
  const definitions = generated.map(
    ({ name, type, expression }) => `"${name}" ${type} AS (${expression}) VIRTUAL`,
  );
  if (existing) return definitions.map((definition) => `ALTER TABLE ${table.name} ADD COLUMN ${definition};`);
  return [`CREATE TABLE ${table.name} (\n  ${[...OWN_DEFINITIONS, ...definitions].join(',\n  ')}\n) STRICT;`];
}

/** Attributes, lists and fields of which only the presence counts have no column. */
function hasColumn({ type, isList }: FieldSpec): boolean {
  return type !== 'attributes' && type !== 'presence' && !isList;
}

function columnsOf({ fields }: RecordTable): Column[] {
  return Object.entries(fields)
    .filter(([, spec]) => hasColumn(spec))
    .flatMap(([field, { type, ignoresCase }]) => {
      const value = `fields ->> '${field.includes('.') ? `$.${field}` : field}'`;
      const column: Column = { name: field, type: type === 'text' ? 'TEXT' : 'INTEGER', expression: value };
      if (!ignoresCase) return [column];
      return [column, { name: unquoted(foldedColumnOf(field)), type: 'TEXT', expression: `lower(${value})` }];
    });
}

function missingIndexes(table: RecordTable, { indexes }: Schema): string[] {
  return indexesOf(table)
    .filter(({ name, sql }) => indexes.get(name) !== sql)
    .flatMap(({ name, sql }) => [...(indexes.has(name) ? [`DROP INDEX ${name};`] : []), `${sql};`]);
}

function indexesOf(table: RecordTable): { readonly name: string; readonly sql: string }[] {
  const fields = Object.entries<FieldSpec>({ ...table.fields, createdAt: TIME, updatedAt: TIME });
  const ofFields = fields
    .filter(([, spec]) => hasColumn(spec))
    .flatMap(([field, spec]) => {
      const unique = spec.unique ? uniqueColumnOf(table, field) : undefined;
      const columns = [columnOf(field), ...(spec.ignoresCase ? [foldedColumnOf(field)] : [])];
      return columns.map((column) => {
        const name = indexName(table.name, column);
        const where = spec.required ? '' : ` WHERE ${column} IS NOT NULL`;
        return {
          name,
          sql: `CREATE ${column === unique ? 'UNIQUE ' : ''}INDEX ${name} ON ${table.name} (${column})${where}`,
        };
      });
    });
  const name = indexName(table.name, 'change');
  return [
    ...ofFields,
    { name, sql: `CREATE INDEX ${name} ON ${table.name} (change) WHERE change IS NOT NULL` },
  ];
}

const TIME: FieldSpec = { type: 'instant', required: true };

function missingValues({ name, fields }: RecordTable, { columns }: Schema): string[] {
  const hasAttributes = attributeFields(fields).length > 0;
  if ((listFields(fields).length === 0 && !hasAttributes) || columns.has(valuesTable(name))) return [];
  return [
    `CREATE TABLE ${valuesTable(name)} (`,
    '  field TEXT NOT NULL,',
    '  value ANY NOT NULL,',
    '  id INTEGER NOT NULL,',
    '  PRIMARY KEY (field, value, id)',
    ') STRICT, WITHOUT ROWID;',
    ...(hasAttributes
      ? [`INSERT INTO value_indexes SELECT '${name}', 0, coalesce(max(id), 0) FROM ${name};`]
      : []),
  ];
}

function missingWords({ name, searched }: RecordTable, { columns }: Schema): string[] {
  if (searched.length === 0 || columns.has(`${name}_words`)) return [];
  return [
    `CREATE VIRTUAL TABLE ${name}_words USING fts5(`,
    "  words, content='', contentless_delete=1, detail=none, tokenize='ascii');",
    `CREATE VIRTUAL TABLE ${name}_terms USING fts5vocab(${name}_words, instance);`,
    `INSERT INTO word_indexes VALUES ('${name}', 0, 0, 0);`,
  ];
}

function unquoted(column: string): string {
  return column.replaceAll('"', '');
}
