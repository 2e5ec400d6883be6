import {
  fieldReader,
  nullRemover,
  type RecordFormat,
  responseMapper,
} from '../../../../application/records/record-format.js';
import { emptyValues, exampleOf, type FieldTable, indexedFields, searchedFields } from '../../../../domain/fields.js';
import { ORDER, type Order } from '../../../../domain/order.js';
import { PRODUCT, type Product } from '../../../../domain/product.js';
import { USER, type User } from '../../../../domain/user.js';
import { entityValidator } from '../../../../domain/validation.js';
import { fixedBodyValidator } from '../body/fixed-body.js';
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
    validate: readOnly.length > 0 ? fixedBodyValidator(table, readOnly) : entityValidator(table),
    present: responseMapper(table),
    toFields: fieldReader(table),
  };
}

export const PRODUCTS: ResourceDefinition<Product> = {
  path: 'products',
  version: 1,
  readScope: 'products:read',
  writeScope: 'products:write',
  docs: {
    name: 'Product',
    singular: 'a product',
    plural: 'products',
    description:
      'What is for sale. Categories are tags, variants are products of one group, and a product without a status is live.',
    schemaNames: { price: 'Price', images: 'Image', status: 'ProductStatus' },
  },
  ...fromFieldTable(PRODUCT),
};

export const USERS: ResourceDefinition<User> = {
  path: 'users',
  version: 1,
  readScope: 'users:read',
  writeScope: 'users:write',
  docs: {
    name: 'User',
    singular: 'a user',
    plural: 'users',
    description:
      'Who places orders. An e-mail address is kept as it was sent. No two users can have the same one, ignoring case.',
  },
  ...fromFieldTable(USER),
};

export const ORDERS: ResourceDefinition<Order> = {
  path: 'orders',
  version: 1,
  readScope: 'orders:read',
  writeScope: 'orders:write',
  docs: {
    name: 'Order',
    singular: 'an order',
    plural: 'orders',
    description:
      'Who ordered what. The user and the products must exist when an order first names them. The order stays as it is when they are deleted later.',
    schemaNames: { items: 'OrderItem' },
  },
  ...fromFieldTable(ORDER),
};
