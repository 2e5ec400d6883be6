import type { ListPlace, ListQuery, Order } from '../../../application/list-query.js';
import { columnOf } from './schema.js';
import { type Sql, sql } from './sql.js';

/** The order in which rows are read: the list's, turned round where the page lies before its place. */
export function scanOrder({ order, from }: ListQuery): Order {
  if (from?.side !== 'before') return order;
  return order.map(({ field, descending }) => ({ field, descending: !descending }));
}

export function orderBy(order: Order): string {
  return order.map(({ field, descending }) => `${columnOf(field)}${descending ? ' DESC' : ''}`).join(', ');
}

/** What lies beyond a place. No index is used for it: that is the walk's affair. */
export function keysetCondition(
  order: Order,
  { values, inclusive }: Pick<ListPlace, 'values' | 'inclusive'>,
): Sql {
  const conditions = order.map(({ field, descending }, at): Sql => {
    const isLast = at === order.length - 1;
    const sign = (descending ? '<' : '>') + (isLast && inclusive ? '=' : '');
    const same = order.slice(0, at).map((key) => `+${columnOf(key.field)} = ?`);
    return sql([...same, `+${columnOf(field)} ${sign} ?`].join(' AND '), ...values.slice(0, at + 1));
  });
  return sql(
    conditions.map(({ text }) => `(${text})`).join(' OR '),
    ...conditions.flatMap((condition) => condition.values),
  );
}
