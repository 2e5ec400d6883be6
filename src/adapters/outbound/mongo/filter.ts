import type { Document } from 'mongodb';
import type {
  AttributeFilter,
  Comparison,
  Filter,
  RecordTable,
  SearchFilter,
  Value,
} from '../../../application/ports/list-query.js';
import type { IdRange } from '../../../application/records/block-scan.js';
import {
  attributeValues,
  comparedValue,
  isFolded,
  prefixRange,
  specOf,
} from '../../../application/records/query-semantics.js';
import type { FieldSpec } from '../../../domain/fields.js';
import { blockOf, fieldPath, foldedPath } from './documents.js';

/** The conditions on the documents of a list with these filters. */
export function conditionsOf(table: RecordTable, filters: readonly Filter[]): Document[] {
  return [{ live: true }, ...filters.map((filter) => conditionOf(table, filter))];
}

export function conditionOf(table: RecordTable, filter: Filter): Document {
  if (filter.operator === 'attribute') return attributeCondition(filter);
  if (filter.operator === 'search') return searchCondition(filter);
  const { type, isList } = specOf(table, filter.field);
  const path = isFolded(table, filter) ? foldedPath(filter.field) : fieldPath(filter.field);
  if (filter.operator === 'exists') return { [path]: filter.value ? anyValue(type) : { $exists: false } };
  // The server finds documents without the field by null.
  if (filter.operator === 'inOrNone') return { [path]: { $in: [null, ...filter.values] } };
  // Two bounds beside each other would match two elements of a list.
  if (isList && filter.operator === 'prefix')
    return { [path]: { $elemMatch: comparison(type, filter.operator, filter.value) } };
  if (filter.operator !== 'in')
    return { [path]: comparison(type, filter.operator, comparedValue(table, filter, filter.value)) };
  const values = filter.values.map((value) => comparedValue(table, filter, value));
  return { [path]: membership(type, values) };
}

function attributeCondition(filter: AttributeFilter): Document {
  const [path, key] = [fieldPath(filter.field), { $eq: filter.key }];
  if ('exists' in filter) {
    const has = { $elemMatch: { key } };
    return { [path]: filter.exists ? has : { $not: has } };
  }
  // The server compares a number with numbers alone.
  const value =
    'comparison' in filter ? { [`$${filter.comparison}`]: filter.number } : { $in: attributeValues(filter) };
  return { [path]: { $elemMatch: { key, value } } };
}

type Operator = Comparison['operator'];

/**
 * The condition on one value of a document. A text of a client is always the operand of an operator, so nothing in it
 * is read as an operator. A missing value never matches.
 */
export function comparison(type: FieldSpec['type'], operator: Operator, value: Value): Document {
  if (type === 'instant') return instantComparison(operator, Number(value));
  if (operator === 'ne') return { ...anyValue(type), $ne: value };
  if (operator !== 'prefix') return { [`$${operator}`]: value };
  const { from, before } = prefixRange(String(value));
  return before === undefined ? { $gte: from } : { $gte: from, $lt: before };
}

/** The lowest value of a type. */
const LOWEST: Partial<Record<FieldSpec['type'], Value | Date>> = {
  text: '',
  integer: Number.NEGATIVE_INFINITY,
  instant: new Date(-8.64e15),
};

/**
 * The condition on a document that has a value. An index on the field also has the documents without one, at its
 * beginning; a range begins behind them, `$exists` would read them all.
 */
export function anyValue(type: FieldSpec['type']): Document {
  const lowest = LOWEST[type];
  return lowest === undefined ? { $exists: true } : { $gte: lowest };
}

function membership(type: FieldSpec['type'], values: readonly Value[]): Document {
  return { $in: type === 'instant' ? wholeDates(values) : values };
}

/** Rounds a bound that lies between two milliseconds so that the same whole milliseconds match. */
const ROUND: Partial<Record<Operator, (instant: number) => number>> = {
  lt: Math.ceil,
  gte: Math.ceil,
  lte: Math.floor,
  gt: Math.floor,
};

/** Instants are stored as dates, which have whole milliseconds. */
function instantComparison(operator: Operator, instant: number): Document {
  const round = ROUND[operator];
  if (round) return { [`$${operator}`]: new Date(round(instant)) };
  const same = wholeDates([instant]);
  return operator === 'ne' ? { ...anyValue('instant'), $nin: same } : { $in: same };
}

function wholeDates(instants: readonly Value[]): Date[] {
  return instants.filter(Number.isInteger).map((instant) => new Date(instant));
}

/**
 * The condition of a search. A word begins with a text if it matches an expression that is `^` and the text: the server
 * makes exact bounds of it (`translateRegex` in src/mongo/db/query of https://github.com/mongodb/mongo), so it reads
 * keys only. With `$elemMatch` it would fetch each document; `$gte` and `$lt` alone may be met by two different words.
 * The characters of a word are letters, digits and marks, so none has a meaning in an expression.
 */
function searchCondition({ words }: SearchFilter): Document {
  return { $and: words.map((word) => ({ words: { $regex: `^${word}` } })) };
}

export function rangeConditions({ low, high }: IdRange): Document[] {
  const isOpen = high === Number.POSITIVE_INFINITY;
  const between = (path: string, first: number, last: number) => ({
    [path]: { $gte: first, ...(!isOpen && { $lte: last }) },
  });
  return [between('_id', low, high), between('block', blockOf(low), blockOf(high))];
}
