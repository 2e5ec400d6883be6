import { type Options, stringify } from 'csv-stringify/sync';
import type { JsonObject } from '../../../../application/patch/merge-patch.js';
import { metadata } from '../../../../application/records/record-view.js';
import { jsonSchemaOf } from '../openapi/joi-to-json-schema.js';
import type { JsonSchema, ObjectSchema, Properties } from '../openapi/json-schema.js';
import { nameListIssues, type Parameter, type Query } from '../query/query.js';
import type { ResourceDefinition } from '../resources/resource-definition.js';
import type { LineFormat } from './stream-lines.js';

/** The media type of CSV (RFC 4180), in requests and responses. */
export const CSV = 'text/csv';

/** {@link CSV} with a charset, like the other types that are negotiated. */
export const CSV_UTF8 = `${CSV}; charset=utf-8`;

/** How a response names CSV: its first row is a header row (RFC 4180 section 3). */
const CSV_WITH_HEADER = `${CSV_UTF8}; header=present`;

/** A column of CSV, with a value of each record. */
export interface Column {
  /** As in the header row: `price.amount`, `attributes.colour`. */
  readonly name: string;
  /** The path to the value in a record. */
  readonly path: readonly [field: string, member?: string];
  /** How the value is written in a cell: as it is, or as JSON. */
  readonly kind: 'text' | 'number' | 'json';
  /** Whether every record has a value. */
  readonly isRequired: boolean;
  /** Whether the field is a list of objects, of which each is a row. */
  readonly isListed: boolean;
}

/** The field whose keys the client chooses. A column can show one of them. */
const ATTRIBUTES = 'attributes';

/** The columns of a resource, in the order in which records show their fields. */
export interface Columns {
  /** Those of the fields that clients send. */
  readonly sendable: readonly Column[];
  /** Those of an export whose query does not choose. */
  readonly shown: readonly Column[];
  /** Those of the service's own fields, which an export shows only if the query chooses them. */
  readonly own: readonly Column[];
  /** Returns the column of an attribute, for a name such as `attributes.colour`. */
  attribute(name: string): Column | undefined;
}

export function columnsOf({ schema, readOnlyFields = {}, itemFields = [] }: ColumnSource): Columns {
  const { properties, required = [] } = jsonSchemaOf(schema) as ObjectSchema;
  const sendable = columnsIn(properties, required);
  const listed = Object.entries(readOnlyFields).filter(([name]) => !itemFields.includes(name));
  const shown = [ID, ...sendable, ...columnsIn(Object.fromEntries(listed))];
  const hasAttributes = sendable.some(({ name, kind }) => name === ATTRIBUTES && kind === 'json');
  return {
    sendable,
    shown,
    own: OWN.filter(({ name }) => !shown.some((column) => column.name === name)),
    attribute: (name) => (hasAttributes ? attributeColumn(name) : undefined),
  };
}

type ColumnSource = Pick<ResourceDefinition<never>, 'schema' | 'readOnlyFields' | 'itemFields'>;

function column(name: string, schema: JsonSchema, more: Partial<Column> = {}): Column {
  const { type } = schema;
  const kind = type === 'integer' || type === 'number' ? 'number' : type === 'string' ? 'text' : 'json';
  return { name, path: [name], kind, isRequired: false, isListed: false, ...more };
}

const ID = column('id', { type: 'integer' });
const OWN: readonly Column[] = [
  column('version', { type: 'integer' }),
  column('createdAt', { type: 'string' }),
  column('updatedAt', { type: 'string' }),
];

function columnsIn(properties: Properties, required: readonly string[] = []): Column[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const isListed = schema['type'] === 'array';
    const { properties: members } = (isListed ? schema['items'] : schema) as Partial<ObjectSchema>;
    if (!members) return [column(name, schema, { isRequired: required.includes(name) })];
    return Object.entries(members).map(([member, inner]) =>
      column(`${name}.${member}`, inner, { path: [name, member], isListed }),
    );
  });
}

/** The key is everything after the first dot, as in filters. */
function attributeColumn(name: string): Column | undefined {
  const key = name.slice(ATTRIBUTES.length + 1);
  if (key === '' || !name.startsWith(`${ATTRIBUTES}.`)) return undefined;
  return column(name, { type: 'string' }, { path: [ATTRIBUTES, key] });
}

/** A resource's lists as CSV. */
export class CsvList<Fields> {
  /** The parameter `fields`, which chooses the columns and their order. */
  readonly parameter: Parameter;
  private readonly columns: Columns;
  /** By the name in `fields`: a column, or a field with a column for each of its members. */
  private readonly named: ReadonlyMap<string, readonly Column[]>;

  constructor(private readonly resource: ResourceDefinition<Fields>) {
    this.columns = columnsOf(resource);
    const all = [...this.columns.shown, ...this.columns.own];
    const columnsNamed = (name: string) =>
      all.filter((one) => one.name === name || (one.path[0] === name && one.path.length > 1));
    const names = new Set(all.flatMap((one) => [one.path[0], one.name]));
    this.named = new Map([...names].map((name) => [name, columnsNamed(name)]));
    const hasAttributes = this.columns.attribute(`${ATTRIBUTES}.KEY`) !== undefined;
    const known = [...this.named.keys(), ...(hasAttributes ? [`${ATTRIBUTES}.KEY`] : [])];
    this.parameter = {
      isList: true,
      issues: (text) => {
        const names = text.split(',').filter((name) => !this.columns.attribute(name));
        return nameListIssues('fields', names, known);
      },
    };
  }

  /** @param query a valid query */
  read(query: Query): LineFormat<Fields> {
    const { present } = this.resource;
    const columns = this.chosen(query.get('fields'));
    const hasOwn = columns.some((one) => this.columns.own.includes(one));
    return {
      contentType: CSV_WITH_HEADER,
      head: headerOf(columns),
      toText: (record) => {
        const shown = present(record);
        return toCsv(rowsOf(hasOwn ? { ...shown, ...metadata(record) } : shown, columns));
      },
    };
  }

  /** @param fields valid names, with commas between them */
  private chosen(fields: string | undefined): readonly Column[] {
    if (fields === undefined) return this.columns.shown;
    const columns = fields
      .split(',')
      .flatMap((name) => this.named.get(name) ?? this.columns.attribute(name) ?? []);
    return [...new Map(columns.map((one) => [one.name, one])).values()];
  }
}

/** The CSV of records as JSON shows them, with the header row. */
export function csvText(columns: readonly Column[], records: readonly JsonObject[]): string {
  return headerOf(columns) + toCsv(records.flatMap((record) => rowsOf(record, columns)));
}

function headerOf(columns: readonly Column[]): string {
  return toCsv([columns.map(({ name }) => name)]);
}

/** One row; if a column shows elements of a list, a row for each element, in which the other cells are the same. */
function rowsOf(shown: JsonObject, columns: readonly Column[]): Cell[][] {
  const list = columns.find(({ isListed }) => isListed)?.path[0];
  const elements = list === undefined ? undefined : (shown[list] as readonly JsonObject[] | undefined);
  return (elements ?? [{}]).map((element) =>
    columns.map(({ path: [field, member], isListed, kind }) => {
      const value = isListed ? element : shown[field];
      return cellOf(member === undefined ? value : memberOf(value, member), kind);
    }),
  );
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as JsonObject)[name]
    : undefined;
}

/** Undefined: the record has no value. */
type Cell = string | undefined;

function cellOf(value: unknown, kind: Column['kind']): Cell {
  if (value === undefined) return undefined;
  return kind === 'json' ? JSON.stringify(value) : String(value);
}

/** An empty text has quotes, unlike no value. A lone carriage return or line feed would be a line end without them. */
const OPTIONS: Options = { record_delimiter: 'windows', quoted_match: [/^$/, '\r', '\n'] };

function toCsv(rows: readonly (readonly Cell[])[]): string {
  return stringify([...rows], OPTIONS);
}
