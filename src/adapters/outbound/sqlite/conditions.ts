import type { AttributeFilter, Filter, RecordTable } from '../../../application/list-query.js';
import { attributeValues, comparedValue, isFolded, prefixRange } from '../../../application/record-order.js';
import { columnOf, foldedColumnOf } from './columns.js';
import { type Sql, sql } from './sql.js';

const OPERATORS = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;

/** The column that a filter compares; none for attributes, which have no columns. */
export function comparedColumn(table: RecordTable, filter: Filter): string | undefined {
  if (filter.operator === 'attribute') return undefined;
  return isFolded(table, filter) ? foldedColumnOf(filter.field) : columnOf(filter.field);
}

/** @param term what stands for the column: the column itself, or `+column`, which no index is used for */
export function conditionOf(table: RecordTable, filter: Filter, term: string): Sql {
  if (filter.operator === 'attribute') return attributeCondition(filter);
  const compared = (value: string | number) => comparedValue(table, filter, value);
  if (filter.operator === 'in')
    return sql(`${term} IN (SELECT value FROM json_each(?))`, JSON.stringify(filter.values.map(compared)));
  const value = compared(filter.value);
  if (filter.operator !== 'prefix') return sql(`${term} ${OPERATORS[filter.operator]} ?`, value);
  const { from, before } = prefixRange(String(value));
  return before === undefined ? sql(`${term} >= ?`, from) : sql(`${term} >= ? AND ${term} < ?`, from, before);
}

/** A condition that leaves the choice of an index to others. */
export function residualOf(table: RecordTable, filter: Filter): Sql {
  return conditionOf(table, filter, `+${comparedColumn(table, filter)}`);
}

/**
 * Few texts hold the attribute as `JSON.stringify` writes it, and looking for that is much faster than reading the JSON
 * of every record; those that do are read.
 */
function attributeCondition(filter: AttributeFilter): Sql {
  const candidates = attributeValues(filter);
  const written = candidates.map((value) => JSON.stringify({ [filter.key]: value }).slice(1, -1));
  const likely = candidates.map(() => 'instr(fields, ?) > 0').join(' OR ');
  return sql(
    `(${likely}) AND EXISTS (
      SELECT 1 FROM json_each(fields, '$.attributes')
      WHERE key = ? AND (${candidates.map(typed).join(' OR ')}))`,
    ...written,
    filter.key,
    ...candidates.filter((value) => typeof value !== 'boolean'),
  );
}

/** Of its three types only `true` and `false` have no value of their own in SQLite. */
function typed(value: string | number | boolean): string {
  if (typeof value === 'boolean') return `type = '${value}'`;
  return typeof value === 'string'
    ? `(type = 'text' AND atom = ?)`
    : `(type IN ('integer', 'real') AND atom = ?)`;
}
