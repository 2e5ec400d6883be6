import {
  fieldReader,
  nullRemover,
  type RecordFormat,
  responseMapper,
} from '../../../../application/records/record-format.js';
import { type FieldTable, indexedFields, moneyFields, searchedFields } from '../../../../domain/fields.js';
import { bodyValidator, objectSchema } from '../body/validate-body.js';
import type { ResourceDefinition } from '../core/resource-definition.js';

/** The part of a definition that follows from the field table. */
export function fromFieldTable<Fields>(
  table: FieldTable,
): RecordFormat<Fields> & Pick<ResourceDefinition<Fields>, 'fields' | 'isSearchable' | 'money' | 'schema'> {
  const schema = objectSchema(table);
  return {
    fields: indexedFields(table),
    isSearchable: searchedFields(table).length > 0,
    money: moneyFields(table),
    schema,
    withoutNulls: nullRemover(table),
    validate: bodyValidator(schema, table),
    present: responseMapper(table),
    toFields: fieldReader(table),
  };
}
