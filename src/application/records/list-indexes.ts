import { type FieldSpec, SYSTEM_FIELDS } from '../../domain/fields.js';
import type { Filter, ListQuery, RecordTable, SortKey, SortOrder } from '../ports/list-query.js';
import { isFolded } from './query-semantics.js';

const ID: SortKey = { field: 'id', descending: false };

/**
 * The keys of the indexes that serve lists, in every store that has such indexes. An index has all records, those without
 * a value too, and a record of a list under each element. It is read in both directions. Besides these a store needs an
 * index on each unique field, folded if the field ignores case.
 */
export function listIndexes(table: RecordTable): SortOrder[] {
  const fields = Object.entries({ ...SYSTEM_FIELDS, ...table.fields });
  return fields.flatMap(([field, spec]) => indexesOn(field, spec));
}

function indexesOn(field: string, { type, required, unique, reference }: FieldSpec): SortOrder[] {
  if (field === 'id') return [[ID]];
  if (type === 'attributes' || type === 'presence' || (unique && !required)) return [];
  const ascending = { field, descending: false };
  return [
    [ascending, ID],
    // Only required fields can be sorted by. Ids ascend among ties, in both directions of the field.
    ...(required ? [[{ field, descending: true }, ID]] : []),
    // For the records that refer to another record, newest first.
    ...(reference ? [[ascending, { field: 'createdAt', descending: true }, ID]] : []),
  ];
}

/**
 * Whether an index leads to exactly the records of a list in their order, or a unique one to so few that sorting them is
 * cheap. The time of such a query does not grow with the table or with the depth of the page. Exception: if records tie
 * in the first key of the order, a store may read all of these.
 * @param indexes those of {@link listIndexes} that the store has
 */
export function isIndexed(
  table: RecordTable,
  { filters, order }: Pick<ListQuery, 'filters' | 'order'>,
  indexes: readonly SortOrder[],
): boolean {
  if (filters.some((filter) => matchesUniqueValues(table, filter))) return true;
  const fixed = filters.filter((filter) => isOneValue(table, filter, filters)).map(({ field }) => field);
  return indexes.some((keys) => {
    const scanned = keys.slice(keys.findIndex(({ field }) => !fixed.includes(field)));
    const before = keys.slice(0, -scanned.length).map(({ field }) => field);
    const sorted = order.filter(({ field }) => !before.includes(field));
    const isBound = (filter: Filter) =>
      filter.field === scanned[0]?.field ? !isFolded(table, filter) : before.includes(filter.field);
    return isSameOrder(sorted, scanned) && filters.every(isBound);
  });
}

function matchesUniqueValues({ fields }: RecordTable, { field, operator }: Filter): boolean {
  const isUnique = field === ID.field || fields[field]?.unique === true;
  return isUnique && (operator === 'eq' || operator === 'in');
}

/**
 * Whether all records that match have one key in an index on the field. The key of one element of a list leads to
 * records that lack the elements of other filters.
 */
function isOneValue(table: RecordTable, filter: Filter, all: readonly Filter[]): boolean {
  const { field, operator } = filter;
  if (table.fields[field]?.isList && all.some((other) => other !== filter && other.field === field))
    return false;
  return operator === 'exists' ? !filter.value : operator === 'eq' && !isFolded(table, filter);
}

/** Whether two orders are the same, or each the reverse of the other. */
function isSameOrder(one: SortOrder, other: SortOrder): boolean {
  const isReverse = one[0]?.descending !== other[0]?.descending;
  return (
    one.length === other.length &&
    one.every(({ field, descending }, at) => {
      const key = other[at];
      return key?.field === field && (key.descending !== descending) === isReverse;
    })
  );
}
