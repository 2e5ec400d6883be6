import type { FacetField, Filter, RecordTable, SortOrder } from '../../../../application/ports/list-query.js';
import { SYSTEM_FIELDS } from '../../../../domain/fields.js';
import { type IndexedTable, isRange } from '../sql/filter.js';
import { type ColumnField, columnName } from './columns.js';

/** @returns undefined if the field has no column, or if a column does not serve the filter */
export function filteredField({ fields }: RecordTable, filter: Filter): FacetField | undefined {
  const { field, operator } = filter;
  if (operator === 'attribute') return { field, key: filter.key };
  const spec = fields[field];
  return spec?.faceted || (spec?.type === 'integer' && isRange(filter)) ? { field } : undefined;
}

/**
 * The fields whose columns find all records that match the filters.
 * @returns undefined if there are none. Records of no value at all are not known to exist
 */
export function servingFields(
  table: IndexedTable,
  filters: readonly Filter[],
): readonly FacetField[] | undefined {
  const fields = new Map<string, FacetField>();
  for (const filter of filters) {
    const field = filteredField(table, filter);
    if (!field || (field.key !== undefined && !table.hasAttributes)) return undefined;
    fields.set(columnName(field), field);
  }
  return filters.some(isPositive) ? [...fields.values()] : undefined;
}

/** Whether a record that matches has a value. */
export function isPositive(filter: Filter): boolean {
  if (filter.operator === 'attribute') return !('exists' in filter) || filter.exists;
  return filter.operator === 'exists' ? filter.value : filter.operator !== 'inOrNone';
}

/** The field whose column gives the order; undefined if no column does. The order of id needs none. */
export function orderField({ fields }: RecordTable, order: SortOrder): ColumnField | undefined {
  const [first, ...rest] = order;
  const { type, isList } = fields[first?.field ?? ''] ?? SYSTEM_FIELDS[first?.field ?? ''] ?? {};
  if (!first || rest.length !== 1 || isList) return undefined;
  if (type === 'integer' || type === 'instant') return { field: first.field };
  return type === 'text' ? { field: first.field, isOrder: true } : undefined;
}
