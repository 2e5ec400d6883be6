import { type FieldSpec, foldedOperators, SYSTEM_FIELDS, uniqueFields } from '../../domain/fields.js';
import type { Filter, ListQuery, RecordTable, SortKey, SortOrder } from '../ports/list-query.js';
import { isFolded, matchesUniqueValues } from './query-semantics.js';

export interface IndexKey extends SortKey {
  /** The index has the folded values of the field. */
  readonly folded?: true;
}

const ID: SortKey = { field: 'id', descending: false };

/**
 * The keys of the indexes that serve lists, in every store that has such indexes. An index has all records, those without
 * a value too, and a record of a list under each element. It is read in both directions. Besides these a store needs an
 * index on each unique field, folded if it has other spellings of a value.
 */
export function listIndexes(table: RecordTable): (readonly IndexKey[])[] {
  const fields = Object.entries({ ...SYSTEM_FIELDS, ...table.fields });
  return fields.flatMap(([field, spec]) => indexesOn(field, spec));
}

function indexesOn(field: string, spec: FieldSpec): (readonly IndexKey[])[] {
  const { type, required, unique, reference } = spec;
  if (field === 'id') return [[ID]];
  if (type === 'attributes' || type === 'presence' || (unique && !required)) return [];
  const ascending = { field, descending: false };
  // Ids ascend among ties, in both directions of the field. An order from the last text down is rarely asked for.
  const hasBoth = !unique && (required || type === 'integer');
  return [
    [ascending, ID],
    ...(hasBoth ? [[{ field, descending: true }, ID]] : []),
    ...(!unique && foldedOperators(spec) ? [[{ ...ascending, folded: true as const }, ID]] : []),
    // For the records that refer to another record, newest first.
    ...(reference ? [[ascending, { field: 'createdAt', descending: true }, ID]] : []),
  ];
}

/** The keys that decide an order: none follows a unique field, if that is the first, since no two records tie in it. */
export function decidingKeys<Key extends SortKey>(
  { fields }: Pick<RecordTable, 'fields'>,
  order: readonly Key[],
): readonly Key[] {
  return fields[order[0]?.field ?? '']?.unique ? order.slice(0, 1) : order;
}

/**
 * Whether an index leads to exactly the records of a list in their order, or a unique one to so few that sorting them is
 * cheap. The time of such a query does not grow with the table or with the depth of the page. Exception: if records tie
 * in the first key of the order, a store may read all of these.
 * @param indexes those of {@link listIndexes} that the store has, and those on attributes, whose first key stands for the
 *   key and the value of one attribute
 */
export function isIndexed(
  table: RecordTable,
  { filters, order }: Pick<ListQuery, 'filters' | 'order'>,
  indexes: readonly (readonly IndexKey[])[],
): boolean {
  if (filters.some((filter) => matchesUniqueValues(table, filter))) return true;
  const optional = uniqueFields(table.fields).filter((field) => {
    const spec = table.fields[field];
    return spec && !spec.required && !foldedOperators(spec);
  });
  const unique = optional.map((field) => [{ field, descending: false }]);
  const wanted = decidingKeys(table, order);
  const nameOf = (filter: Filter) => indexedName({ field: filter.field, folded: isFolded(table, filter) });
  const fixed = filters.filter((filter) => isOneValue(table, filter, filters)).map(nameOf);
  return [...indexes, ...unique].some((all) => {
    const keys = decidingKeys(table, all);
    const scanned = keys.slice(keys.findIndex((key) => !fixed.includes(indexedName(key))));
    const before = keys.slice(0, -scanned.length).map(indexedName);
    const sorted = wanted.filter(({ field }) => !before.includes(field));
    const bound = [...before, ...scanned.slice(0, 1).map(indexedName)];
    return isSameOrder(sorted, scanned) && filters.every((filter) => bound.includes(nameOf(filter)));
  });
}

/** Tells the folded values of a field from its values. */
function indexedName({ field, folded }: { readonly field: string; readonly folded?: boolean }): string {
  return folded ? `${field} folded` : field;
}

/**
 * Whether all records that match have one key in an index on the field; those with an attribute that is written so have
 * up to two. The key of one element of a list, or of one attribute, leads to records that lack those of other filters.
 */
function isOneValue(table: RecordTable, filter: Filter, all: readonly Filter[]): boolean {
  const { field, operator } = filter;
  const { isList, type } = table.fields[field] ?? {};
  const hasMany = isList || type === 'attributes';
  if (hasMany && all.some((other) => other !== filter && other.field === field)) return false;
  if (operator === 'attribute') return 'value' in filter;
  return operator === 'exists' ? !filter.value : operator === 'eq';
}

/** Whether two orders are the same, or each the reverse of the other. */
function isSameOrder(one: SortOrder, other: readonly IndexKey[]): boolean {
  const isReverse = one[0]?.descending !== other[0]?.descending;
  return (
    one.length === other.length &&
    one.every(({ field, descending }, at) => {
      const key = other[at];
      return key?.field === field && !key.folded && (key.descending !== descending) === isReverse;
    })
  );
}
