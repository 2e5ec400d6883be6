import type { Document } from 'mongodb';
import type { Comparison, Value } from '../../../application/list-query.js';
import { prefixRange } from '../../../application/record-order.js';
import type { FieldTraits } from '../../../domain/fields.js';

type Operator = Comparison['operator'];

/**
 * What a document's value must be. A client's text stands under an operator in it, never by itself, so nothing in the
 * text is one. A value that is not there is never what it must be.
 */
export function comparison(type: FieldTraits['type'], operator: Operator, value: Value): Document {
  if (type === 'instant') return comparedInstant(operator, Number(value));
  if (operator === 'ne') return { $exists: true, $ne: value };
  if (operator !== 'prefix') return { [`$${operator}`]: value };
  const { from, before } = prefixRange(String(value));
  return before === undefined ? { $gte: from } : { $gte: from, $lt: before };
}

export function membership(type: FieldTraits['type'], values: readonly Value[]): Document {
  return { $in: type === 'instant' ? datesAmong(values) : values };
}

/** Where a bound lies between two milliseconds, the one of them that parts the whole ones alike. */
const WHOLE: Partial<Record<Operator, (instant: number) => number>> = {
  lt: Math.ceil,
  gte: Math.ceil,
  lte: Math.floor,
  gt: Math.floor,
};

/** Instants are kept as dates, which have whole milliseconds. */
function comparedInstant(operator: Operator, instant: number): Document {
  const whole = WHOLE[operator];
  if (whole) return { [`$${operator}`]: new Date(whole(instant)) };
  const same = datesAmong([instant]);
  return operator === 'ne' ? { $exists: true, $nin: same } : { $in: same };
}

function datesAmong(instants: readonly Value[]): Date[] {
  return instants.filter(Number.isInteger).map((instant) => new Date(instant));
}
