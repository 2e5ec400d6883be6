import { PRODUCT, type Product } from '../../../../domain/product.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { fromFieldTable } from './from-field-table.js';

export const PRODUCTS: ResourceDefinition<Product> = {
  path: 'products',
  version: 1,
  readScope: 'products:read',
  writeScope: 'products:write',
  docs: {
    name: 'Product',
    singular: 'a product',
    plural: 'products',
    description: 'What is for sale. Lists can be filtered by name, SKU, price and your own attributes.',
    schemaNames: { price: 'Price' },
  },
  ...fromFieldTable(PRODUCT),
};
