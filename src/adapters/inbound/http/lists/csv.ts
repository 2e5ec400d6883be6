import { type Options, stringify } from 'csv-stringify/sync';
import { metadata } from '../../../../application/records/record-format.js';
import { StoredRecord } from '../../../../application/records/record-json.js';
import { type Field, type FieldTable, type MoneyField, moneyFields, variantFields } from '../../../../domain/fields.js';
import { decimalOf } from '../../../../domain/money.js';
import type { Versioned } from '../../../../domain/record.js';
import { type JsonObject, withoutLineEnds } from '../../../../shared/json.js';
import type { ParameterIssue } from '../core/error-codes.js';
import { parameterIssue } from '../core/http-error.js';
import { CSV_UTF8 } from '../core/media-types.js';
import type { Parameter, Query } from '../core/parameter.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { ATTRIBUTES, attributeKey } from '../parameters/attribute-name.js';
import { type FieldsParameter, VARIANTS } from '../parameters/fields.js';
import { nameListIssues } from '../parameters/query.js';
import type { LineFormat } from './lines.js';

/** How a response names CSV: its first row is a header row (RFC 4180 section 3). */
const CSV_WITH_HEADER = `${CSV_UTF8}; header=present`;

/** A column of CSV, with a value of each record. */
export interface Column {
  /** As in the header row: `price.amount`, `attributes.colour`. */
  readonly name: string;
  /** The path to the value in a record. */
  readonly path: readonly [field: string, member?: string];
  /**
   * How the value is written in a cell: as it is, as JSON, or the texts of a list with a separator between them.
   * `amount` is an amount of money in the smallest unit of its currency, `decimal` the same amount in the major unit.
   */
  readonly kind: 'text' | 'integer' | 'number' | 'boolean' | 'json' | 'list' | 'amount' | 'decimal';
  /** What stands between the texts of a list, or between URLs. */
  readonly separator?: string;
  /** What people write between the texts of a list instead. No text has it. */
  readonly wrongSeparator?: string;
  /** The member of a list's objects that is their URL. URLs with separators between them may stand for the objects. */
  readonly urlMember?: string;
  /** The amount of money that the column shows, or whose currency it shows. */
  readonly money?: MoneyField;
  /** Whether every record has a value. */
  readonly isRequired: boolean;
  /** Whether the field is a list of objects, of which each is a row. */
  readonly isListed: boolean;
}

/** The columns of a resource, in the order in which records show their fields. */
export interface Columns {
  /** Those of the fields that clients send. */
  readonly sendable: readonly Column[];
  /** Those of an export whose query does not choose. */
  readonly shown: readonly Column[];
  /** Those that stand for the amount of another column, in exports that name them and in imports. */
  readonly decimals: readonly (Column & { readonly money: MoneyField })[];
  /** Those of the service's own fields, which an export shows only if the query chooses them. */
  readonly own: readonly Column[];
  /** Those that say what an import does to a record that exists. */
  readonly control: readonly Column[];
  /** Returns the column of an attribute, for a name such as `attributes.colour` or `attributes[colour]`. */
  attribute(name: string): Column | undefined;
}

export function columnsOf({ table, readOnlyFields = {}, itemFields = [] }: ColumnSource): Columns {
  const money = moneyFields(table);
  const sendable = columnsIn(table).map((one) => {
    const found = money.find(({ field }) => one.path[0] === field && one.path.length > 1);
    const isAmount = found && one.path[1] === found.amount;
    return { ...one, ...(isAmount && { kind: 'amount' as const }), ...(found && { money: found }) };
  });
  const readOnly = Object.entries(readOnlyFields)
    .filter(([name]) => !itemFields.includes(name))
    .map(([name, { type }]) => column(name, type === 'integer' ? 'integer' : 'text'));
  const shown = [ID, ...sendable, ...readOnly];
  const hasAttributes = sendable.some(({ name, kind }) => name === ATTRIBUTES && kind === 'json');
  return {
    sendable,
    shown,
    decimals: money.map(decimalColumn),
    control: CONTROL,
    own: OWN.filter(({ name }) => !shown.some((column) => column.name === name)),
    attribute: (name) => (hasAttributes ? attributeColumn(name) : undefined),
  };
}

type ColumnSource = Pick<ResourceDefinition<never>, 'table' | 'readOnlyFields' | 'itemFields'>;

function column(name: string, kind: Column['kind'], more: Partial<Column> = {}): Column {
  return { name, path: [name], kind, isRequired: false, isListed: false, ...more };
}

const ID = column('id', 'integer');
const VERSION = column('version', 'integer');
const CONTROL = [ID, VERSION, column('deleted', 'boolean')];
const OWN: readonly Column[] = [VERSION, column('createdAt', 'text'), column('updatedAt', 'text')];

/** How the values of each kind of field are written in a cell. */
const KINDS: Readonly<Record<Field['kind'], Column['kind']>> = {
  text: 'text',
  code: 'text',
  choice: 'text',
  instant: 'text',
  integer: 'integer',
  reference: 'integer',
  attributes: 'json',
  object: 'json',
  list: 'json',
};

function columnsIn(table: FieldTable): Column[] {
  return Object.entries(table).flatMap(([name, field]) => {
    const isListed = field.kind === 'list' && field.rows === true;
    const inner = isListed ? field.of : field;
    const isRequired = field.required === true;
    if (field.kind === 'list' && field.separator !== undefined) {
      const { separator, of: element, distinct: [urlMember] = [] } = field;
      return element.kind === 'text'
        ? [
            column(name, 'list', {
              isRequired,
              separator,
              ...(!element.allowed.test('a,b') && { wrongSeparator: ',' }),
            }),
          ]
        : [column(name, 'json', { isRequired, separator, ...(urlMember !== undefined && { urlMember }) })];
    }
    if (inner.kind !== 'object') return [column(name, KINDS[field.kind], { isRequired })];
    return Object.entries(inner.fields).map(([member, { kind }]) =>
      column(`${name}.${member}`, KINDS[kind], { path: [name, member], isListed }),
    );
  });
}

function decimalColumn(money: MoneyField) {
  const { field } = money;
  return { ...column(`${field}.decimal`, 'decimal', { path: [field, 'decimal'] }), money };
}

function attributeColumn(name: string): Column | undefined {
  const key = attributeKey(name);
  if (key === undefined) return undefined;
  return column(`${ATTRIBUTES}.${key}`, 'text', { path: [ATTRIBUTES, key] });
}

/** A resource's lists as CSV. */
export class CsvList<Fields> {
  /** The parameter `fields`, which chooses the columns and their order. */
  readonly parameter: Parameter;
  private readonly columns: Columns;
  /** The columns of what is no field of the record's own, which an export shows only if the query chooses them. */
  private readonly more: readonly Column[];
  /** By the name in `fields`: a column, or a field with a column for each of its members. */
  private readonly named: ReadonlyMap<string, readonly Column[]>;

  /** @param fields the parameter of lists in JSON */
  constructor(
    private readonly resource: ResourceDefinition<Fields>,
    fields: FieldsParameter,
  ) {
    this.columns = columnsOf(resource);
    const hasVariants = variantFields(resource.fields).length > 0;
    this.more = [...this.columns.own, ...(hasVariants ? [column(VARIANTS, 'integer')] : [])];
    const all = [...this.columns.shown, ...this.more];
    const { decimals } = this.columns;
    const columnsNamed = (name: string) => [
      ...all.filter((one) => one.name === name || (one.path[0] === name && one.path.length > 1)),
      ...decimals.filter((one) => one.name === name),
    ];
    const names = new Set([...all.flatMap((one) => [one.path[0], one.name]), ...decimals.map(({ name }) => name)]);
    this.named = new Map([...names].map((name) => [name, columnsNamed(name)]));
    const hasAttributes = this.columns.attribute(`${ATTRIBUTES}.KEY`) !== undefined;
    const known = [...this.named.keys(), ...(hasAttributes ? [`${ATTRIBUTES}.KEY`] : [])];
    const description = `${fields.docs.description} In CSV, the columns in this order${this.furtherNames(hasAttributes)}.`;
    this.parameter = {
      ...fields,
      issues: (text) => {
        const names = text.split(',').filter((name) => !this.columns.attribute(name));
        return [...nameListIssues('fields', names, known), ...this.decimalIssues(text)];
      },
      docs: { ...fields.docs, description },
    };
  }

  /** The names that `fields` takes in CSV alone, in words. */
  private furtherNames(hasAttributes: boolean): string {
    const { shown, decimals } = this.columns;
    const names = [
      ...shown.filter(({ path }) => path.length > 1).map(({ name }) => `\`${name}\``),
      ...decimals.map(({ name, money }) => `\`${name}\` (\`${money.amount}\` in the major unit)`),
      ...(hasAttributes ? [`\`${ATTRIBUTES}.KEY\``] : []),
    ];
    return names.length > 0 ? `, and ${names.join(', ')} are names too` : '';
  }

  /** @param query a valid query */
  read(query: Query): LineFormat<Versioned<Fields>> {
    const { present } = this.resource;
    const columns = this.chosen(query.get('fields'));
    const hasMore = columns.some((one) => this.more.includes(one));
    return {
      contentType: CSV_WITH_HEADER,
      head: headerOf(columns),
      toText: (record) => {
        const shown = present(StoredRecord.once(record));
        return toCsv(rowsOf(hasMore ? { ...shown, ...metadata(record) } : shown, columns));
      },
    };
  }

  private decimalIssues(fields: string): ParameterIssue[] {
    const names = new Set(this.chosen(fields).map(({ name }) => name));
    return decimalConflicts(this.columns, names).map(({ code, message }) =>
      parameterIssue('query', 'fields', code, message),
    );
  }

  /** @param fields names, with commas between them */
  private chosen(fields: string | undefined): readonly Column[] {
    if (fields === undefined) return this.columns.shown;
    const columns = fields.split(',').flatMap((name) => this.named.get(name) ?? this.columns.attribute(name) ?? []);
    return [...new Map(columns.map((one) => [one.name, one])).values()];
  }
}

interface ColumnConflict {
  readonly code: 'duplicate_value' | 'required';
  /** The name of the column that is too many, or missing. */
  readonly column: string;
  readonly message: string;
}

/**
 * Returns what is wrong with the columns of amounts in the major unit beside the others.
 * @param names those of all columns
 */
export function decimalConflicts({ decimals }: Columns, names: ReadonlySet<string>): ColumnConflict[] {
  return decimals
    .filter(({ name }) => names.has(name))
    .flatMap(({ name, money: { field, amount, currency } }) => {
      const [inSmallestUnit, unit] = [`${field}.${amount}`, `${field}.${currency}`];
      const conflicts: ColumnConflict[] = [];
      if (names.has(inSmallestUnit)) {
        const message = `The column ${name} cannot stand beside ${inSmallestUnit}.`;
        conflicts.push({ code: 'duplicate_value', column: name, message });
      }
      if (!names.has(unit))
        conflicts.push({ code: 'required', column: unit, message: `The column ${name} needs ${unit}.` });
      return conflicts;
    });
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
    columns.map((column) => {
      const { path, isListed, kind, money } = column;
      const [field, member] = path;
      const value = isListed ? element : shown[field];
      if (kind === 'decimal' && money) return decimalCell(value, money);
      return cellOf(member === undefined ? value : memberOf(value, member), column);
    }),
  );
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as JsonObject)[name]
    : undefined;
}

function decimalCell(value: unknown, { amount, currency }: MoneyField): Cell {
  const [number, code] = [memberOf(value, amount), memberOf(value, currency)];
  return number === undefined ? undefined : decimalOf(Number(number), String(code));
}

/** Undefined: the record has no value. */
type Cell = string | undefined;

function cellOf(value: unknown, { kind, separator }: Column): Cell {
  if (value === undefined) return undefined;
  if (kind === 'list') return (value as readonly string[]).join(separator);
  return kind === 'json' ? withoutLineEnds(JSON.stringify(value)) : String(value);
}

/**
 * An empty text has quotes, unlike no value. A lone carriage return or line feed, or a line end of Unicode, would be a
 * line end without them; CSV has no escape.
 */
const OPTIONS: Options = { record_delimiter: 'windows', quoted_match: [/^$/, /[\r\n\u0085\u2028\u2029]/] };

function toCsv(rows: readonly (readonly Cell[])[]): string {
  return stringify([...rows], OPTIONS);
}
