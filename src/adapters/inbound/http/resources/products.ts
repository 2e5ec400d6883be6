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
    example: {
      name: 'Desk lamp',
      description: 'Brass, with a shade of linen.',
      sku: 'LAMP-1',
      price: { amount: 4990, currency: 'EUR' },
      attributes: { colour: 'green', watts: 7.5, dimmable: true },
    },
    schemaNames: { price: 'Price' },
  },
  ...fromFieldTable(PRODUCT),
};
