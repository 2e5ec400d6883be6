import {
  fieldReader,
  nullRemover,
  presenter,
  type RecordView,
} from '../../../../application/records/record-view.js';
import { type FieldTable, indexedFields, moneyFields, searchedFields } from '../../../../domain/fields.js';
import { bodyValidator, objectSchema } from '../body/validate-body.js';
import type { ResourceDefinition } from '../core/resource-definition.js';

/** The part of a definition that follows from the field table. */
export function fromFieldTable<Fields>(
  table: FieldTable,
): RecordView<Fields> & Pick<ResourceDefinition<Fields>, 'fields' | 'isSearchable' | 'money' | 'schema'> {
  const schema = objectSchema(table);
  return {
    fields: indexedFields(table),
    isSearchable: searchedFields(table).length > 0,
    money: moneyFields(table),
    schema,
    withoutNulls: nullRemover(table),
    validate: bodyValidator(schema, table),
    present: presenter(table),
    toFields: fieldReader(table),
  };
}
