import type { AttributeFilter, Filter, RecordTable } from '../../../application/list-query.js';
import { attributeValues, comparedValue, isFolded, prefixRange } from '../../../application/record-order.js';
import { columnOf, foldedColumnOf } from './schema.js';
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
export function residualConditionOf(table: RecordTable, filter: Filter): Sql {
  return conditionOf(table, filter, `+${comparedColumn(table, filter)}`);
}

/** Two doubles that are written alike differ by less, whoever reads them. */
const LAST_BITS = 1e-15;

/**
 * Few records hold the attribute as `JSON.stringify` writes it, and looking for that in their text is much faster than
 * reading the JSON of every one; those that do are read. SQLite reads some numbers with another last bit than was
 * written, so that their text tells more than their value.
 */
function attributeCondition(filter: AttributeFilter): Sql {
  const ways = attributeValues(filter).map((value) => {
    const written = JSON.stringify({ [filter.key]: value }).slice(1, -1);
    const { text, values } = typed(value);
    return sql(
      `instr(fields, ?) > 0 AND (instr(fields, ?) > 0 OR instr(fields, ?) > 0) AND EXISTS (
        SELECT 1 FROM json_each(fields, '$.attributes') WHERE key = ? AND ${text})`,
      written,
      `${written},`,
      `${written}}`,
      filter.key,
      ...values,
    );
  });
  return sql(ways.map(({ text }) => `(${text})`).join(' OR '), ...ways.flatMap(({ values }) => values));
}

function typed(value: string | number | boolean): Sql {
  if (typeof value === 'boolean') return sql(`type = '${value}'`);
  if (typeof value === 'string') return sql(`type = 'text' AND atom = ?`, value);
  return sql(`type IN ('integer', 'real') AND abs(atom - ?) <= ?`, value, Math.abs(value) * LAST_BITS);
}
