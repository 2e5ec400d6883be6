import {
  fieldReader,
  nullRemover,
  type RecordFormat,
} from '../../../../application/records/record-format.js';
import { responseMapper } from '../../../../application/records/record-json.js';
import {
  emptyValues,
  exampleOf,
  type FieldTable,
  indexedFields,
  searchedFields,
} from '../../../../domain/fields.js';
import { entityCheck } from '../../../../domain/validation.js';
import { bodyValidator, fixedBodyCheck } from '../body/validate-body.js';
import type { ResourceDefinition } from '../core/resource-definition.js';

/**
 * The part of a definition that follows from the field table.
 * @param readOnly the names of further fields, which clients cannot send
 */
export function fromFieldTable<Fields>(
  table: FieldTable,
  readOnly: readonly string[] = [],
): RecordFormat<Fields> & Pick<ResourceDefinition<Fields>, 'table' | 'example' | 'fields' | 'isSearchable'> {
  return {
    table,
    example: exampleOf(table),
    fields: indexedFields(table),
    isSearchable: searchedFields(table).length > 0,
    empty: emptyValues(table),
    withoutNulls: nullRemover(table, readOnly),
    validate: bodyValidator(
      table,
      readOnly.length > 0 ? fixedBodyCheck(table, readOnly) : entityCheck(table),
    ),
    present: responseMapper(table),
    toFields: fieldReader(table),
  };
}
