import type { FacetValue, ListQuery, Position, RecordTable, Value } from '../../../../application/ports/list-query.js';
import { compareFacetValues, memberValue } from '../../../../application/records/query-semantics.js';
import { foldedOperators, foldedText } from '../../../../domain/fields.js';
import { columnOf, foldedColumnOf, keysetCondition, type ScanKey, valuesTable } from '../../sql/keyset.js';
import type { Sql } from '../connection/connection.js';

export const ID = columnOf('id');

/** A column of a resource's own field, which the adapter writes beside the JSON text of all fields. */
export interface Column {
  /** Quoted. */
  readonly name: string;
  readonly type: 'TEXT' | 'INTEGER';
  /** The field of which it has the value. */
  readonly field: string;
  /** The value in the fields of a record. */
  readonly valueIn: (fields: object) => Value | null;
}

/** The columns of a table. Attributes, lists and fields of which only the presence counts have none. */
export function columnsOf({ fields }: Pick<RecordTable, 'fields'>): Column[] {
  return Object.entries(fields).flatMap(([field, spec]): Column[] => {
    const { type, isList } = spec;
    if (type === 'attributes' || type === 'presence' || isList) return [];
    const name = columnOf(field);
    const valueIn = (record: object) => (memberValue(record, field) as Value | undefined) ?? null;
    if (!foldedOperators(spec)) return [{ name, type: type === 'text' ? 'TEXT' : 'INTEGER', field, valueIn }];
    const foldedIn = (record: object) => {
      const value = valueIn(record);
      return value === null ? null : foldedText(spec, String(value));
    };
    return [
      { name, type: 'TEXT', field, valueIn },
      { name: foldedColumnOf(field), type: 'TEXT', field, valueIn: foldedIn },
    ];
  });
}

/**
 * The table with the index on a column, for `FROM`. A statement that cannot use the index does not compile. The order
 * of `id` is the table's own.
 */
export function indexedBy({ name }: RecordTable, column: string): string {
  return column === ID ? `${name} NOT INDEXED` : `${name} INDEXED BY ${indexName(name, column)}`;
}

export function indexName(table: string, column: string): string {
  return `${table}_${column.replaceAll('"', '').replaceAll(/[. ]/g, '_')}`;
}

/** The name of an attribute in {@link valuesTable}. */
export function attributeName(field: string, key: string): string {
  return `${field}.${key}`;
}

const [FALSE, TRUE] = [Buffer.of(0), Buffer.of(1)];

/** A value in {@link valuesTable}. SQLite has no booleans; its binary values differ from all texts and numbers. */
export type StoredValue = string | number | Buffer;

export function storedValue(value: FacetValue): StoredValue {
  if (typeof value === 'boolean') return value ? TRUE : FALSE;
  // -0 is 0 in JSON.
  return typeof value === 'number' ? value + 0 : value;
}

const ORDER = ['number', 'string', 'boolean'];

/** The order of values in an index (https://www.sqlite.org/datatype3.html#sort_order), booleans as {@link storedValue}. */
export function compareStored(a: FacetValue, b: FacetValue): number {
  return ORDER.indexOf(typeof a) - ORDER.indexOf(typeof b) || compareFacetValues(a, b);
}

/** The number of the newest change of a table, in a statement about `feeds`; see `changeNumbers`. */
export function newestChange(table: string): string {
  return `max(floor,
    coalesce((SELECT max(change) FROM ${table} INDEXED BY ${indexName(table, 'change')} WHERE change IS NOT NULL), 0),
    coalesce((SELECT max(change) FROM tombstones INDEXED BY tombstones_change
      WHERE resource = '${table}' AND change IS NOT NULL), 0))`;
}

export type { Sql };

export function sql(text: string, ...values: unknown[]): Sql {
  return { text, values };
}

/** The condition that a row has an id which another table, or an index, has under a condition. */
export function isAmong(source: string, { text, values }: Sql): Sql {
  return sql(`${ID} IN (SELECT id FROM ${source} WHERE ${text})`, ...values);
}

/** The condition that a row of {@link valuesTable} is of a field. A client may have chosen the name. */
export function ofField(name: string): Sql {
  return sql('field = ?', name);
}

/** The condition that an expression is one of some values. Clients cannot fill the cache of statements by their number. */
export function isOneOf(term: string, values: readonly unknown[]): Sql {
  // Unlike FALSE, it makes an index of existing values usable.
  if (values.length === 0) return sql(`${term} = NULL`);
  if (values.length === 1) return sql(`${term} = ?`, ...values);
  const padded = paddedToPower(values);
  return sql(`${term} IN (${padded.map(() => '?').join(', ')})`, ...padded);
}

/** Repeats the last value until their number is a power of 4. */
function paddedToPower(values: readonly unknown[]): readonly unknown[] {
  const length = 4 ** Math.ceil(Math.log2(values.length) / 2);
  return [...values, ...Array.from({ length: length - values.length }, () => values.at(-1))];
}

/** The conjunction of the conditions; `TRUE` if there are none. */
export function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? sql('TRUE') : joined(conditions, ' AND ');
}

/** @param conditions at least one */
export function anyOf(conditions: readonly Sql[]): Sql {
  return joined(conditions, ' OR ');
}

function joined(conditions: readonly Sql[], operator: string): Sql {
  const texts = conditions.map(({ text }) => `(${text})`);
  return sql(texts.join(operator), ...conditions.flatMap(({ values }) => values));
}

/** The position of a list; undefined if it is behind one end, so that no record lies beyond it. */
export function boundOf({ from }: Pick<ListQuery, 'from'>): Position | undefined {
  return from?.values.length ? from : undefined;
}

/** The condition on the rows beyond a position. It uses no index: the scan has chosen one. */
export function beyondPosition(order: readonly ScanKey[], position: Position): Sql {
  const values: Value[] = [];
  const keys = order.map((key) => ({ ...key, column: `+${key.column}` }));
  const text = keysetCondition(keys, position, (value) => {
    values.push(value);
    return '?';
  });
  return sql(text, ...values);
}
